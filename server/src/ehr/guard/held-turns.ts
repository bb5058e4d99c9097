import { AsyncLocalStorage } from 'node:async_hooks';
import { type EhrRequest, isWrite } from '@crossward/connector-kit';

/** A turn of all gateways that the running work has: see exclusive-turns.ts. */
export interface HeldTurn {
  /**
   * Renews the turn in the database, which proves that no other gateway has had it meanwhile.
   *
   * @returns whether the turn certainly lasts for that many milliseconds more, however long this process has stood still since
   * @throws ConnectorError `unavailable` if the turn was lost, or the database does not answer
   */
  prove(): Promise<(milliseconds: number) => boolean>;
}

export const heldTurns = new AsyncLocalStorage<readonly HeldTurn[]>();

/**
 * Proves the turns of the running work before a write. A process that has stood still, or is cut off from the database, sends
 * nothing in a turn that another gateway may have.
 *
 * @param longestMs how long the request can take
 * @returns whether the request may still begin: ask right before its first byte
 */
export async function provenTurns(request: EhrRequest, longestMs: number): Promise<() => boolean> {
  const turns = isWrite(request) ? (heldTurns.getStore() ?? []) : [];
  const lasts = await Promise.all(turns.map((turn) => turn.prove()));
  return () => lasts.every((it) => it(longestMs));
}
