/** The result of one test of the probe. */
export interface ProbeFinding {
  /** Short name of the test, such as `sign-in` or `transactions are atomic`. */
  readonly name: string;
  /**
   * - `ok`: works
   * - `note`: for information; no action needed
   * - `warning`: works with a restriction, described in `detail`
   * - `problem`: must be fixed before the connection is used
   * - `untried`: could not be tested; `detail` says why
   */
  readonly status: 'ok' | 'note' | 'warning' | 'problem' | 'untried';
  /** The result in one sentence. Shown to the operator, so it contains no secret and no patient data. */
  readonly detail: string;
}

/** Report of a connector's probe of its server. */
export interface ProbeReport {
  /** In display order. */
  readonly findings: readonly ProbeFinding[];
  /** Recommended values for the connection's `settings`. Only settings that should change. */
  readonly recommendedSettings: Readonly<Record<string, unknown>>;
}

/** What a server says of itself: words by subject, such as its software and version, or the search parameters of `Slot`. */
export type ServerDescription = Readonly<Record<string, readonly string[]>>;

/** A place of the EHR of which an operator can make a care unit, such as an institution or a location. */
export interface EhrPlace {
  readonly name: string;
  /** The settings of a care unit there. */
  readonly settings: Readonly<Record<string, unknown>>;
}
