import type { Places } from '../db/claimed-work.ts';
import type { Endpoint } from './endpoint.ts';

type Of = Pick<Endpoint, 'id' | 'clientId'>;

/**
 * Shares the concurrent attempts of a process between clients. A client can use as many places as it leaves free: one
 * client at most half, two clients a third each. So slow endpoints of some clients always leave places for the others.
 *
 * @param total maximum number of concurrent attempts of the process
 * @param perEndpoint maximum number of concurrent attempts at one endpoint
 */
export function createPlaces(total: number, perEndpoint: number): Places<Of> {
  const byEndpoint = new Map<string, number>();
  const byClient = new Map<string, number>();
  let taken = 0;
  function change({ id, clientId }: Of, by: number): void {
    taken += by;
    add(byEndpoint, id, by);
    add(byClient, clientId, by);
  }
  return {
    free({ id, clientId }) {
      const left = perEndpoint - (byEndpoint.get(id) ?? 0);
      // Afterwards at least as many places are free as the client has.
      const share = Math.floor((total - taken - (byClient.get(clientId) ?? 0)) / 2);
      return Math.max(0, Math.min(left, share));
    },
    take: (endpoint, count) => change(endpoint, count),
    release: (endpoint, count) => change(endpoint, -count),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
