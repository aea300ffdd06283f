import {
  ActionIcon, Alert, Badge, Button, Code, createTheme, defaultVariantColorsResolver, Loader, Modal, NavLink, PasswordInput, rem, Select,
  SegmentedControl, Table, Textarea, TextInput, Tooltip, type CSSVariablesResolver, type MantineColorsTuple,
} from "@mantine/core";

const pine: MantineColorsTuple = ["#eaf6f2", "#d3ebe3", "#a8d8c9", "#78c3ad", "#4faf95", "#2f9c80", "#1d856b", "#167461", "#0d6352", "#065143"];
const green: MantineColorsTuple = ["#f0f8f2", "#e0f1e5", "#c3e4cd", "#9fd3af", "#7ac091", "#58ab75", "#3f945f", "#2f7d4d", "#25663f", "#1d5233"];
const red: MantineColorsTuple = ["#fdf3f3", "#fbe5e5", "#f6cccc", "#eea8a8", "#e48080", "#d75c5c", "#c94242", "#b73232", "#982727", "#7d1f1f"];
const yellow: MantineColorsTuple = ["#fdf8ec", "#fbf0d6", "#f6e0ab", "#efca76", "#e5b245", "#d39a25", "#b37f18", "#916512", "#735010", "#5b3f0e"];
const gray: MantineColorsTuple = ["#f8f9fa", "#f1f3f5", "#e7eaed", "#dce0e4", "#c9cfd5", "#aab2bb", "#7b848e", "#565f69", "#363d45", "#1a1f25"];
const dark: MantineColorsTuple = ["#d5d9de", "#a9b1ba", "#8a939d", "#5d6670", "#343a41", "#272c32", "#16191c", "#15181b", "#101214", "#0a0c0e"];

// Mantine's own dimmed text, placeholders and light badges are below the
// contrast of WCAG AA; these are not.
export const cssVariables: CSSVariablesResolver = (t) => ({
  variables: {},
  light: {
    "--mantine-color-body": "#ffffff",
    "--mantine-color-text": t.colors.gray[9],
    "--mantine-color-dimmed": "#57606a",
    "--mantine-color-placeholder": "#69727c",
    "--mantine-color-default-border": t.colors.gray[3],
    "--mantine-color-error": "#c02a2a",
    "--mantine-color-anchor": t.colors.pine![7],
    "--il-surface": t.colors.gray[0],
    "--il-line": t.colors.gray[2],
    "--il-hover": "rgba(20, 30, 40, 0.04)",
    "--il-selected": "rgba(20, 30, 40, 0.065)",
  },
  dark: {
    "--mantine-color-body": t.colors.dark[8],
    "--mantine-color-text": "#e4e7eb",
    "--mantine-color-dimmed": "#9ba4ae",
    "--mantine-color-placeholder": "#8a939d",
    "--mantine-color-default": t.colors.dark[7],
    "--mantine-color-default-hover": "#1d2125",
    "--mantine-color-default-border": t.colors.dark[5],
    "--mantine-color-error": "#ff8f8f",
    "--mantine-color-anchor": "#5cc2a6",
    "--il-surface": "#0c0e10",
    "--il-line": "#23282e",
    "--il-hover": "rgba(255, 255, 255, 0.045)",
    "--il-selected": "rgba(255, 255, 255, 0.085)",
  },
});

const small = { defaultProps: { size: "sm" } };

export const theme = createTheme({
  primaryColor: "pine",
  primaryShade: { light: 7, dark: 7 },
  colors: { pine, gray, dark, green, red, yellow },
  variantColorResolver: (input) => {
    const base = defaultVariantColorsResolver(input);
    if (input.variant !== "light" || typeof input.color !== "string" || input.color.includes("#")) return base;
    const c = input.color;
    return {
      ...base,
      background: `light-dark(var(--mantine-color-${c}-1), color-mix(in srgb, var(--mantine-color-${c}-9) 32%, var(--mantine-color-body)))`,
      hover: `light-dark(var(--mantine-color-${c}-2), color-mix(in srgb, var(--mantine-color-${c}-9) 45%, var(--mantine-color-body)))`,
      color: `light-dark(color-mix(in srgb, var(--mantine-color-${c}-9) 78%, black), var(--mantine-color-${c}-2))`,
    };
  },
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, 'SF Mono', Menlo, monospace",
  fontSizes: { xs: rem(12), sm: rem(13), md: rem(14), lg: rem(16), xl: rem(18) },
  lineHeights: { xs: "1.4", sm: "1.5", md: "1.55", lg: "1.55", xl: "1.5" },
  headings: {
    fontFamily: "'Inter Variable', system-ui, sans-serif",
    fontWeight: "620",
    sizes: {
      h1: { fontSize: rem(21), lineHeight: "1.3" },
      h2: { fontSize: rem(15), lineHeight: "1.4" },
      h3: { fontSize: rem(13), lineHeight: "1.4" },
    },
  },
  radius: { xs: rem(3), sm: rem(5), md: rem(7), lg: rem(10), xl: rem(16) },
  defaultRadius: "md",
  cursorType: "pointer",
  focusRing: "auto",
  autoContrast: true,
  luminanceThreshold: 0.35,
  respectReducedMotion: true,
  components: {
    Alert: Alert.extend({
      defaultProps: { radius: "md" },
      vars: (_, { color = "gray" }) => ({
        root: {
          "--alert-bg": `light-dark(var(--mantine-color-${color}-0), color-mix(in srgb, var(--mantine-color-${color}-9) 17%, var(--mantine-color-body)))`,
          "--alert-bd": `1px solid light-dark(var(--mantine-color-${color}-2), color-mix(in srgb, var(--mantine-color-${color}-9) 70%, var(--mantine-color-body)))`,
        },
      }),
      styles: { root: { padding: "11px 13px" }, message: { color: "var(--mantine-color-text)", fontSize: rem(13) }, title: { fontSize: rem(13), fontWeight: 580 } },
    }),
    Badge: Badge.extend({ defaultProps: { radius: "sm", variant: "light", tt: "none", fw: 520, size: "md" }, styles: { root: { minWidth: "max-content", overflow: "visible" } } }),
    Button: Button.extend({ defaultProps: { size: "xs", fw: 540 }, styles: { root: { fontSize: rem(13), height: rem(32) } } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: "subtle", color: "gray", size: 30 } }),
    TextInput: TextInput.extend(small),
    PasswordInput: PasswordInput.extend(small),
    Textarea: Textarea.extend(small),
    Select: Select.extend({ defaultProps: { size: "sm", allowDeselect: false, comboboxProps: { shadow: "md" } } }),
    SegmentedControl: SegmentedControl.extend({ styles: { root: { background: "var(--il-selected)" }, label: { paddingInline: 10 } } }),
    InputWrapper: { styles: { label: { marginBottom: 3 }, description: { fontSize: rem(12), lineHeight: 1.4 } } },
    Table: Table.extend({ defaultProps: { verticalSpacing: 9, horizontalSpacing: "sm" } }),
    // The head of a dialog is no banner of the page.
    Modal: Modal.extend({ defaultProps: { attributes: { header: { role: "presentation" } }, radius: "lg", centered: true, overlayProps: { backgroundOpacity: 0.35, blur: 1 }, transitionProps: { duration: 110 } } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 350, withArrow: false, fz: "xs" } }),
    NavLink: NavLink.extend({ defaultProps: { variant: "subtle" } }),
    Code: Code.extend({ defaultProps: { fz: "xs" } }),
    Loader: Loader.extend({ defaultProps: { size: "sm", type: "dots" } }),
  },
});
