/** The parts of a gateway that are checked, in the order of the report. */
export const areas = [
  'configuration',
  'gateway',
  'database',
  'secret key',
  'EHRs',
  'messages',
  'public addresses',
] as const;
export type Area = (typeof areas)[number];

/** The result of one check. Contains no secret, no personal data, and of a URL host and port alone. */
export interface Finding {
  readonly area: Area;
  /** What was checked: an EHR's id, a channel, a setting. */
  readonly subject: string;
  /**
   * - `ok`: works
   * - `note`: for information; no action needed
   * - `warning`: works, with a restriction that `text` describes
   * - `problem`: must be fixed
   * - `unchecked`: could not be checked; `text` says why
   */
  readonly status: 'ok' | 'note' | 'warning' | 'problem' | 'unchecked';
  readonly text: string;
}

/** Makes the findings of one area. */
export function findingsOf(area: Area) {
  return (subject: string, status: Finding['status'], text: string): Finding => ({ area, subject, status, text });
}
