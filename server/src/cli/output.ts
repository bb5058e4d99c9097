/** Output of a command. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Whether standard error is a terminal, so that progress is shown. */
  readonly isWatched: boolean;
}
