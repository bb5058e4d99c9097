/** Where a command writes to. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
  /** Whether a person looks on, who wants to see how far it is. */
  readonly isWatched: boolean;
}
