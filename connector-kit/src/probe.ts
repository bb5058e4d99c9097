/** One thing that was tried, and what came of it. */
export interface ProbeFinding {
  /** A few words, the same for every server: `sign-in`, `transactions are atomic`. */
  readonly name: string;
  /**
   * - `ok`: as it should be
   * - `note`: worth knowing; nothing to do
   * - `warning`: works, with a consequence that `detail` names
   * - `problem`: this connection cannot be trusted until it is put right
   * - `untried`: could not be tried; `detail` says why
   */
  readonly status: 'ok' | 'note' | 'warning' | 'problem' | 'untried';
  /** What was seen, in a sentence. Shown to the operator: no secret, nothing about a patient. */
  readonly detail: string;
}

/** What a connector found out about the server that its settings name. */
export interface ProbeReport {
  /** In the order in which they are to be read. */
  readonly findings: readonly ProbeFinding[];
  /** What the connection's `settings` had better say, by the names of `settingsSchema`. Only what should differ. */
  readonly recommendedSettings: Readonly<Record<string, unknown>>;
}
