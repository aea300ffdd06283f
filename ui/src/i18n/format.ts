// Numbers, times and amounts as people of the chosen language write them.
import { language } from "./index";

const locale = () => (language() === "sv" ? "sv-SE" : "en-GB");

export function formatNumber(n: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(n);
}

export function formatCompact(n: number): string {
  return new Intl.NumberFormat(locale(), { notation: n >= 10_000 ? "compact" : "standard", maximumFractionDigits: 1 }).format(n);
}

export function formatPercent(share: number, digits = 1): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: digits }).format(share);
}

export function formatUsd(n: number): string {
  const digits = n !== 0 && Math.abs(n) < 1 ? 4 : 2;
  return "$" + new Intl.NumberFormat(locale(), { minimumFractionDigits: 2, maximumFractionDigits: digits }).format(n);
}

export function formatMs(ms: number): string {
  if (ms > 0 && ms < 0.1) return `<${formatNumber(0.1, 1)} ms`;
  if (ms < 10) return `${formatNumber(ms, 1)} ms`;
  if (ms < 1000) return `${formatNumber(ms)} ms`;
  return ms < 60_000 ? `${formatNumber(ms / 1000, 1)} s` : `${formatNumber(ms / 60_000, 1)} min`;
}

export function formatTime(time: string | number | Date): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(new Date(time));
}

export function formatDate(time: string | number | Date): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(new Date(time));
}

export function formatClock(time: string | number | Date, seconds = true): string {
  return new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) }).format(new Date(time));
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1],
];

export function formatRelative(time: string | number | Date, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const [unit, size] = steps.find(([, s]) => Math.abs(seconds) >= s) ?? ["second", 1];
  return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

export function formatDay(time: string | number | Date): string {
  return new Intl.DateTimeFormat(locale(), { weekday: "short", day: "numeric" }).format(new Date(time));
}
