import { Problem } from '../../problems/problem.ts';

/** Counts the bytes that each client has in the staging area: those of its requests that have not ended. */
export interface StagedBytes {
  /**
   * Takes bytes of the client's share before its content arrives. Call the result once, when the request has ended.
   *
   * @throws Problem `rate_limited` if they exceed the share
   */
  take(clientId: string, bytes: number): () => void;
}

/** @param share bytes for each client, in this process */
export function createStagedBytes(share: number): StagedBytes {
  const taken = new Map<string, number>();
  return {
    take(clientId, bytes) {
      const before = taken.get(clientId) ?? 0;
      if (before + bytes > share) {
        throw new Problem('rate_limited', {
          detail: `The client is sending more than ${share} bytes of content at the same time.`,
          headers: { 'retry-after': '1' },
        });
      }
      taken.set(clientId, before + bytes);
      return () => {
        const rest = (taken.get(clientId) ?? 0) - bytes;
        if (rest > 0) taken.set(clientId, rest);
        else taken.delete(clientId);
      };
    },
  };
}
