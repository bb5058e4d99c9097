import { Command } from 'commander';
import type { Db, Tx } from '../db/kysely.ts';
import { type Delivery, listDeliveries, redeliver } from '../webhooks/delivery-store.ts';
import {
  type EndpointSummary,
  endpointOf,
  isEnabled,
  removeEndpoint,
  setEnabled,
  summarizeEndpoints,
} from '../webhooks/operator.ts';
import { startReplay } from '../webhooks/replay.ts';
import { failPending } from '../webhooks/settle-delivery.ts';
import { writeTestEvent } from '../webhooks/write-test-event.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';

/** Maximum number of deliveries listed. */
const mostListed = 200;
const noEndpoint = 'No enabled webhook endpoint has this id.\n';

export function webhooksCommand(output: Output, end: (exitCode: number) => void): Command {
  const webhooks = new Command('webhooks').description('Manage webhook endpoints and their deliveries.');
  const report = (done: boolean, text: string, otherwise: string) => {
    output[done ? 'out' : 'err'](done ? text : otherwise);
    end(done ? exitCodes.fine : exitCodes.failed);
  };
  const change = (work: (tx: Tx) => Promise<boolean>) =>
    withDatabase(output, (db: Db) => db.transaction().execute(work));

  webhooks
    .command('list')
    .description('List all endpoints with their deliveries. Shows no URLs.')
    .action(async () => {
      const found = await withDatabase(output, summarizeEndpoints);
      output.out(found.length === 0 ? 'No webhook endpoints.\n' : found.map(line).join(''));
    });
  webhooks
    .command('deliveries')
    .description(`List the last ${mostListed} deliveries to an endpoint, newest first.`)
    .argument('<endpoint>', 'endpoint id from `list`')
    .option('--failed', 'only those that were given up')
    .action(async (id: string, { failed }: { readonly failed?: true }) => {
      const state = failed ? ('failed' as const) : undefined;
      const found = await withDatabase(output, async (db) =>
        (await summarizeEndpoints(db)).some((it) => it.id === id)
          ? listDeliveries(db, id, { state, limit: mostListed })
          : undefined,
      );
      const text = found?.length === 0 ? 'No deliveries.\n' : (found ?? []).map(deliveryLine).join('');
      report(found !== undefined, text, 'No webhook endpoint has this id.\n');
    });
  webhooks
    .command('test')
    .description('Send a test event to an endpoint.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .action(async (id: string) => {
      const sent = await change(async (tx) => {
        if (!(await isEnabled(tx, id))) return false;
        await writeTestEvent(tx, id, '');
        return true;
      });
      report(sent, 'The test event is queued. A running gateway sends it within seconds.\n', noEndpoint);
    });
  webhooks
    .command('redeliver')
    .description('Deliver an event again.')
    .argument('<delivery>', 'delivery id from `deliveries`')
    .action(async (id: string) => {
      const queued = await change(async (tx) => {
        const endpointId = await endpointOf(tx, id);
        return endpointId !== undefined && (await redeliver(tx, endpointId, id)) !== undefined;
      });
      report(queued, 'The delivery is queued.\n', 'No delivery to an enabled endpoint has this id.\n');
    });
  webhooks
    .command('replay')
    .description('Deliver every event since a time again.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .requiredOption('--from <time>', 'RFC 3339 with an offset, such as 2030-03-15T09:00:00Z')
    .action(async (id: string, { from }: { readonly from: string }) => {
      const time = new Date(from);
      if (!/T.*(Z|[+-]\d\d:\d\d)$/.test(from) || Number.isNaN(time.getTime()))
        throw new UsageError('--from must be a time with an offset, such as 2030-03-15T09:00:00Z.');
      const started = await change(async (tx) => {
        if (!(await isEnabled(tx, id))) return false;
        await startReplay(tx, id, time);
        return true;
      });
      report(started, 'The replay has started.\n', noEndpoint);
    });
  for (const [name, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    webhooks
      .command(name)
      .description(enabled ? 'Enable an endpoint.' : 'Disable an endpoint. Ends its pending deliveries.')
      .argument('<endpoint>', 'endpoint id from `list`')
      .action(async (id: string) => {
        const changed = await change(async (tx) => {
          const found = await setEnabled(tx, id, enabled);
          if (found && !enabled) await failPending(tx, id);
          return found;
        });
        report(changed, `The endpoint is ${name}d.\n`, 'No webhook endpoint has this id.\n');
      });
  }
  webhooks
    .command('delete')
    .description('Delete an endpoint with its deliveries.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .action(async (id: string) => {
      const deleted = await withDatabase(output, (db) => removeEndpoint(db, id));
      report(deleted, 'The endpoint is deleted.\n', 'No webhook endpoint has this id.\n');
    });
  return webhooks;
}

function line({ id, clientId, eventTypes, disabledReason, pending, failed, oldestPendingSeconds }: EndpointSummary) {
  const state = disabledReason === null ? 'enabled' : `disabled (${disabledReason})`;
  const deliveries = `pending ${pending}  oldest ${oldestPendingSeconds} s  failed ${failed}`;
  return `${id}  ${clientId}  ${state}  ${deliveries}  events ${eventTypes?.join(',') ?? 'all'}\n`;
}

function deliveryLine(delivery: Delivery): string {
  const { id, event_type, state, attempts, failure_reason, response_status, next_attempt_at, created_at } = delivery;
  const reason =
    failure_reason === null ? '' : `  ${failure_reason}${response_status === null ? '' : ` ${response_status}`}`;
  const next = state === 'pending' ? `  next ${next_attempt_at.toISOString()}` : '';
  return `${id}  ${event_type}  ${state}  attempts ${attempts}${reason}${next}  created ${created_at.toISOString()}\n`;
}
