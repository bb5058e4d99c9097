/*
 * What becomes of a write: its row, by what has happened and by what the EHR may still do. `end.ts` follows this table, and
 * docs/architecture/writes.md shows it.
 */

/** What has happened to a write. */
export const events = [
  /** The EHR has made it, or it has nothing for the EHR. */
  'made',
  /** It is not made, and its key gets the problem. */
  'refused',
  /** It is not made because of a limit, which counts for this moment only. */
  'refused for now',
  /** It is not made. No problem is stored: nobody waits for it, or it will pass. */
  'not made',
  /** It is not made, and the request that holds its lease starts over. */
  'starts over',
  /** Its outcome will not be found out any more. */
  'given up',
  /** Its outcome is not known yet. */
  'unknown',
] as const;
export type EndEvent = (typeof events)[number];

/** What the EHR may still do after its answers. */
export const ehrStates = [
  /** Nothing. */
  'done',
  /** Make the write, or make it a second time: it has got no answer to a call of this attempt. */
  'late',
  /** Nothing. What it has made is undone, and a further attempt needs other ids. */
  'undone',
] as const;
export type EhrState = (typeof ehrStates)[number];

/** What the row of a write has for retries: nothing, an `Idempotency-Key`, or the response that an earlier request got. */
export const keyStates = ['no key', 'key', 'response'] as const;
export type KeyState = (typeof keyStates)[number];

/** What becomes of a row, and how it stands there. */
export const rows = {
  answered: 'done; response; no plan',
  monitored: 'done; plan, looked at again when the EHR has settled; response, if there is one',
  'monitored under its lease': 'done; plan, looked at again when the lease expires',
  free: 'pending; key alone: a retry starts over',
  'free under its lease': 'pending; key alone: its request starts over',
  gone: 'deleted',
  open: 'as it was; due now; told as unknown',
} as const;
export type Row = keyof typeof rows;

const table: Record<EndEvent, Record<EhrState, Row>> = {
  made: { done: 'answered', late: 'monitored', undone: 'answered' },
  refused: { done: 'answered', late: 'monitored', undone: 'answered' },
  'refused for now': { done: 'gone', late: 'monitored', undone: 'gone' },
  'not made': { done: 'free', late: 'monitored', undone: 'free' },
  'starts over': { done: 'free under its lease', late: 'monitored under its lease', undone: 'free under its lease' },
  'given up': { done: 'answered', late: 'answered', undone: 'answered' },
  unknown: { done: 'open', late: 'open', undone: 'open' },
};

/** What becomes of the row of a write. A response stays; a row that no retry can find, and nobody looks at, goes. */
export function rowAfter(event: EndEvent, ehr: EhrState, key: KeyState): Row {
  const row = table[event][ehr];
  if (row !== 'answered' && row !== 'free' && row !== 'gone') return row;
  if (key === 'response') return 'answered';
  return key === 'key' ? row : 'gone';
}
