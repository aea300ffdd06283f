import { notifications } from "@mantine/notifications";
import { asProblem } from "../api/problem";

export function toast(message: string): void {
  notifications.show({ message, color: "pine", autoClose: 3500 });
}

export function toastProblem(error: unknown): void {
  const problem = asProblem(error);
  notifications.show({ message: problem.detail, color: "red", autoClose: 8000 });
}
