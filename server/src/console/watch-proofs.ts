import type { Logger } from 'pino';
import { Gauge, type Registry } from 'prom-client';
import type { Db } from '../db/kysely.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { listUnproven } from './renew-proofs.ts';

/** Returns a function that counts rows without a proof, and logs each change of them once. */
export function watchProofs(registry: Registry, keys: KeyRing, log: Logger): (db: Db) => Promise<void> {
  const unproven = new Gauge({
    name: 'crossward_rows_unproven',
    help: 'Rows that would let somebody in and that no gateway of this version has made as they are, by table: clients, operators, operator_sessions or webhook_endpoints. They open nothing.',
    labelNames: ['table'],
    registers: [registry],
    aggregator: 'max',
  });
  let known = '';
  return async (db) => {
    const { clients, operators, sessions, endpoints } = await listUnproven(db, keys);
    unproven.set({ table: 'clients' }, clients.length);
    unproven.set({ table: 'operators' }, operators.length);
    unproven.set({ table: 'operator_sessions' }, sessions);
    unproven.set({ table: 'webhook_endpoints' }, endpoints.length);
    const endpointIds = endpoints.map(({ id }) => id);
    const now = JSON.stringify([clients, operators.length, sessions, endpointIds]);
    const isSome = clients.length + operators.length + sessions + endpoints.length > 0;
    if (now !== known && isSome) {
      log.error(
        { client_ids: clients, operators: operators.length, sessions, endpoint_ids: endpointIds },
        'rows of the database open nothing: no gateway of this version has made them as they are',
      );
    }
    if (now !== known && known !== '' && !isSome)
      log.info('all clients, operators, sessions and webhook endpoints are proven again');
    known = isSome ? now : '';
  };
}
