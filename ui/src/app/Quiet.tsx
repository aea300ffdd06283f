import { Component, type ReactNode } from "react";

// Quiet keeps a part of the shell that broke from taking the page with it.
export class Quiet extends Component<{ children: ReactNode }, { broken: boolean }> {
  state = { broken: false };

  static getDerivedStateFromError() {
    return { broken: true };
  }

  componentDidCatch(error: unknown) {
    console.error(error);
  }

  render() {
    return this.state.broken ? null : this.props.children;
  }
}
