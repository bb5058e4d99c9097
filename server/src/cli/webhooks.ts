import { Command } from 'commander';
import type { Db } from '../db/kysely.ts';
import { type Delivery, listDeliveries } from '../webhooks/delivery-store.ts';
import { type EndpointSummary, summarizeEndpoint, summarizeEndpoints } from '../webhooks/operator.ts';
import { columnHelp } from './column-help.ts';
import { exitCodes } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson, snakeCase } from './print-json.ts';
import { webhookAction } from './webhook-action.ts';
import { addWebhookDeliveries } from './webhook-deliveries.ts';
import { addWebhookEndpoints } from './webhook-endpoints.ts';

/** Maximum number of deliveries listed. */
const mostListed = 200;

export function webhooksCommand(output: Output, end: (exitCode: number) => void): Command {
  const webhooks = new Command('webhooks').description('Manage webhook endpoints and their deliveries.');
  webhooks
    .command('list')
    .description('List all endpoints with their deliveries. Shows no URLs.')
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'id',
        'client',
        'state',
        'pending deliveries',
        'age of the oldest pending one',
        'failed deliveries',
        'event types',
      ),
    )
    .action(async ({ json }: JsonOption) => {
      const found = await withDatabase(output, summarizeEndpoints);
      if (json) printJson(output, found.map(snakeCase));
      else output.out(found.length === 0 ? 'No webhook endpoints.\n' : found.map(line).join(''));
    });
  webhooks
    .command('deliveries')
    .description(`List the last ${mostListed} deliveries to an endpoint, newest first.`)
    .argument('<endpoint>', 'endpoint id from `list`')
    .option('--failed', 'only failed deliveries')
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'id',
        'event type',
        'state',
        'attempts',
        'reason and status of the last failure, if any',
        'next attempt, if it is pending',
        'when it was created',
      ),
    )
    .action(async (id: string, { failed, json }: JsonOption & { readonly failed?: true }) => {
      const state = failed ? ('failed' as const) : undefined;
      const found = await withDatabase(output, async (db: Db) =>
        (await summarizeEndpoint(db, id)) ? listDeliveries(db, id, { state, limit: mostListed }) : undefined,
      );
      if (!found) output.err('No webhook endpoint has this id.\n');
      else if (json) printJson(output, found);
      else output.out(found.length === 0 ? 'No deliveries.\n' : found.map(deliveryLine).join(''));
      end(found ? exitCodes.fine : exitCodes.failed);
    });
  const run = webhookAction(output, end);
  addWebhookEndpoints(webhooks, output, run);
  addWebhookDeliveries(webhooks, run);
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
