import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { findListedClient } from '../clients/list-clients.ts';
import type { ConfiguredAccess } from '../config/configuration.ts';
import type { Tx } from '../db/kysely.ts';
import { eventTypes } from '../events/event-types.ts';
import { Problem } from '../problems/problem.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  overlap,
  rotateEndpointSecret,
  setStatus,
} from '../webhooks/endpoint-actions.ts';
import { acceptEndpoint } from '../webhooks/endpoint-store.ts';
import { configuredAccess } from './configured-access.ts';
import { currentKeyRing } from './current-key-ring.ts';
import { UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';
import type { RunAction } from './webhook-action.ts';

interface Options {
  readonly config?: string;
  readonly client?: string;
  readonly url?: string;
  readonly events?: string;
}

/** Commands that create, change and delete endpoints. */
export function addWebhookEndpoints(webhooks: Command, output: Output, run: RunAction): void {
  withEndpointOptions(webhooks.command('create'), true)
    .description('Create an endpoint for a client, and print its secret.')
    .requiredOption('--client <id>', 'client id from `clients list`')
    .action(async ({ client = '', ...options }: Options) => {
      const configured = await configuredAccess(options.config);
      const [url = '', types = null] = [await readUrl(output, options.url), readTypes(options.events)];
      await run('webhook_create', async (tx) => {
        await assertClient(tx, configured, client);
        const made = { clientId: client, url, eventTypes: types };
        const { id, secret } = await createEndpoint(tx, await currentKeyRing(tx), configured.webhooks, made);
        return { target: id, text: `${secret}\n`, note: `The endpoint ${id} is created. ${once}` };
      });
    });
  withEndpointOptions(webhooks.command('change'), false)
    .description('Change the URL or the event types of an endpoint.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .action(async (target: string, options: Options) => {
      const { webhooks: rules } = await configuredAccess(options.config);
      const change = { url: await readUrl(output, options.url), eventTypes: readTypes(options.events) };
      if (change.url === undefined && change.eventTypes === undefined) throw new UsageError('Set --url or --events.');
      await run('webhook_change', async (tx) => {
        await changeEndpoint(tx, await currentKeyRing(tx), rules, target, change);
        return { target, text: 'The endpoint is changed.\n' };
      });
    });
  webhooks
    .command('rotate')
    .description(
      'Give an endpoint a new secret, and print it. Deliveries are also signed with the previous one for a time.',
    )
    .argument('<endpoint>', 'endpoint id from `list`')
    .option(
      '--overlap-seconds <seconds>',
      'seconds for which deliveries are also signed with the previous secret',
      String(overlap.usual),
    )
    .action(async (target: string, { overlapSeconds }: { readonly overlapSeconds: string }) => {
      const seconds = Number(overlapSeconds);
      if (!/^\d+$/.test(overlapSeconds) || seconds > overlap.longest)
        throw new UsageError(`--overlap-seconds must be a whole number from 0 to ${overlap.longest}.`);
      await run('webhook_secret_rotate', async (tx) => {
        const secret = await rotateEndpointSecret(tx, await currentKeyRing(tx), target, seconds);
        return { target, text: `${secret}\n`, note: `The secret is rotated. ${once}` };
      });
    });
  for (const status of ['enabled', 'disabled'] as const) {
    const isEnabled = status === 'enabled';
    webhooks
      .command(isEnabled ? 'enable' : 'disable')
      .description(isEnabled ? 'Enable an endpoint.' : 'Disable an endpoint. Ends its pending deliveries.')
      .argument('<endpoint>', 'endpoint id from `list`')
      .action((target: string) =>
        run(isEnabled ? 'webhook_enable' : 'webhook_disable', async (tx) => {
          await setStatus(tx, target, status);
          return { target, text: `The endpoint is ${status}.\n` };
        }),
      );
  }
  webhooks
    .command('accept')
    .description(
      'Let an endpoint get events that was created by an older version, or changed directly in the database.',
    )
    .argument('<endpoint>', 'endpoint id from `doctor`')
    .requiredOption('--client <id>', 'the client that it belongs to, if that is right')
    .action(async (target: string, { client }: { readonly client: string }) =>
      run('webhook_accept', async (tx) => {
        if (await acceptEndpoint(tx, await currentKeyRing(tx), target, client))
          return { target, text: 'The endpoint is accepted.\n' };
        throw new Problem('webhook_endpoint_not_found', {
          detail: `The client ${client} has no endpoint with this id.`,
        });
      }),
    );
  webhooks
    .command('delete')
    .description('Delete an endpoint with its deliveries.')
    .argument('<endpoint>', 'endpoint id from `list`')
    .action((target: string) =>
      run('webhook_delete', async (tx) => {
        await deleteEndpoint(tx, target);
        return { target, text: 'The endpoint is deleted.\n' };
      }),
    );
}

function withEndpointOptions(command: Command, needsUrl: boolean): Command {
  const url = new Option('--url <url>', 'where events are posted; use - to read it from standard input');
  return command
    .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)')
    .addOption(url.makeOptionMandatory(needsUrl))
    .option('--events <types>', `\`all\`, or types separated by commas: ${eventTypes.join(', ')}`);
}

async function assertClient(tx: Tx, configured: ConfiguredAccess, id: string): Promise<void> {
  const client = await findListedClient(tx, configured, id);
  if (client?.state !== 'active') throw new UsageError('No active client has this id.');
  if (client.scopes.includes('webhooks:manage')) return;
  throw new UsageError(`The client ${id} would get no events: it lacks the scope webhooks:manage.`);
}

/** A URL can contain a token, and other users of the machine can see arguments. */
async function readUrl({ input }: Output, url: string | undefined): Promise<string | undefined> {
  return url === '-' ? (await text(input)).trim() : url;
}

/** `null`: all. */
function readTypes(events: string | undefined): string[] | null | undefined {
  if (events === undefined) return undefined;
  if (events === 'all') return null;
  const types = [...new Set(events.split(','))];
  const unknown = types.find((type) => !eventTypes.some((it) => it === type));
  if (unknown === undefined) return types;
  throw new UsageError(`--events has an unknown type: ${unknown}. Known types: ${eventTypes.join(', ')}.`);
}

const once = 'Its secret signs the deliveries, and is not shown again:\n';
