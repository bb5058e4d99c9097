import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { parseGrants } from '../clients/grants.ts';
import { findListedClient, findOverridden, findUnaccepted, listClients } from '../clients/list-clients.ts';
import type { ConfiguredAccess } from '../config/configuration.ts';
import { formatPath, isMapping, type Mistake } from '../config/mistakes/mistake.ts';
import { type ClientFacts, type Scope, scopes } from '../config/schema/schema.ts';
import {
  acceptAsOperator,
  type ClientAdministration,
  createClient,
  defaultOverlapHours,
  longestOverlapHours,
  type NotChanged,
  notChangedTexts,
  revokeAsOperator,
  rotateClient,
  updateAsOperator,
} from '../console/clients/client-actions.ts';
import type { Db } from '../db/kysely.ts';
import { clientAsJson, clientLine, describeClient } from './client-report.ts';
import { columnHelp } from './column-help.ts';
import { configuredAccess, withStoredAccess } from './configured-access.ts';
import { currentKeyRing } from './current-key-ring.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson } from './print-json.ts';

interface Options {
  readonly config?: string;
}

interface FactOptions extends Options {
  readonly name?: string;
  readonly scope?: readonly string[];
  readonly grant?: readonly string[];
  /** `false`: none. */
  readonly returnUrl?: readonly string[] | boolean;
  readonly budget?: readonly string[];
  readonly jwks?: string;
  readonly jwksUri?: string;
}

interface ChangeOptions extends FactOptions {
  /** `false`: remove them. */
  readonly keys?: boolean;
  readonly secret?: boolean;
}

const withinSeconds = 'Running gateways use the change within 5 seconds.\n';

export function clientsCommand(output: Output, end: (exitCode: number) => void): Command {
  const clients = new Command('clients').description('Manage the clients that may call the API.');
  const command = (name: string, description: string) =>
    clients
      .command(name)
      .description(description)
      .option('-c, --config <file>', 'configuration file (default: CROSSWARD_CONFIG, otherwise the demo)');
  const read = async <Result>({ config }: Options, work: (db: Db, configured: ConfiguredAccess) => Promise<Result>) => {
    const configured = await configuredAccess(config);
    return withDatabase(output, async (db) => work(db, await withStoredAccess(db, configured)));
  };
  const change = <Result>(options: Options, work: (administration: ClientAdministration) => Promise<Result>) =>
    read(options, async (db, configured) => work({ db, configured, keys: await currentKeyRing(db) }));
  const reject = (reason: NotChanged) => {
    output.err(`Nothing was changed. ${notChangedTexts[reason]}\n`);
    end(exitCodes.failed);
  };
  /** The secret alone goes to standard output, so that a script can pass it on. */
  const showSecret = (secret: string, text: string) => {
    output.err(`${text} ${withinSeconds}Its secret is not shown again:\n`);
    output.out(`${secret}\n`);
  };

  command('list', 'List all clients, with those of the configuration file.')
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'id',
        'where it is managed',
        'state',
        'granted EHRs',
        'number of scopes',
        'last rotation of the secret',
        'when all secrets ended, if it is revoked',
      ),
    )
    .action(async ({ json, ...options }: Options & JsonOption) => {
      const found = await read(options, listClients);
      if (json) printJson(output, found.map(clientAsJson));
      else output.out(found.length === 0 ? 'No clients.\n' : found.map(clientLine).join(''));
    });
  command('show', 'Show the scopes and grants of a client, and the age of its secrets.')
    .argument('<id>', 'id from `list`')
    .option(...jsonOption)
    .action(async (id: string, { json, ...options }: Options & JsonOption) => {
      const found = await read(options, async (db, configured) =>
        [await findListedClient(db, configured, id), await findOverridden(db, configured, id)].filter(
          (client) => client !== undefined,
        ),
      );
      if (found.length === 0) output.err(`${notChangedTexts.unknown}\n`);
      else if (json) printJson(output, found.map(clientAsJson));
      else output.out(found.map(describeClient).join('\n'));
      end(found.length > 0 ? exitCodes.fine : exitCodes.failed);
    });
  withFacts(
    command('create', 'Create a client, and print its secret. One with keys gets none.').argument(
      '<id>',
      'such as booking-site',
    ),
  ).action(async (id: string, options: FactOptions) => {
    const facts = { scopes: [], grants: [], ...(await readFacts(options)), id };
    const result = await change(options, (administration) => createClient(administration, facts));
    if ('mistakes' in result) throw mistaken(result.mistakes);
    if ('rejection' in result) return reject(result.rejection);
    if (result.secret === undefined) output.out(`The client ${id} is created. ${withinSeconds}`);
    else showSecret(result.secret, `The client ${id} is created.`);
  });
  command('rotate', 'Give a client a new secret, and print it.')
    .argument('<id>', 'id from `list`')
    .option(
      '--overlap-hours <hours>',
      `hours that the current secret stays valid, up to ${longestOverlapHours}; 0: it ends at once, with those before it`,
      String(defaultOverlapHours),
    )
    .action(async (id: string, options: Options & { readonly overlapHours: string }) => {
      const hours = readHours(options.overlapHours);
      const result = await change(options, (administration) => rotateClient(administration, { id }, hours));
      if ('rejection' in result) return reject(result.rejection);
      showSecret(result.secret, `The client ${id} has a new secret.`);
    });
  withFacts(
    command('update', 'Change a client. Each option replaces the previous value; the rest stays.').argument(
      '<id>',
      'id from `list`',
    ),
  )
    .option('--no-return-url', 'remove all return URLs')
    .option('--no-keys', 'remove the keys: the client then needs its secret')
    .option('--no-secret', 'end all secrets at once: the client then needs its keys')
    .action(async (id: string, options: ChangeOptions) => {
      const facts = {
        ...(await readFacts(options)),
        ...(options.keys === false && { withoutKeys: true }),
        ...(options.secret === false && { withoutSecret: true }),
      };
      if (Object.keys(facts).length === 0)
        throw new UsageError('Nothing to change. Give at least one option: see --help.');
      const result = await change(options, (administration) => updateAsOperator(administration, { id }, facts));
      if (result !== 'done') {
        if ('mistakes' in result) throw mistaken(result.mistakes);
        return reject(result.rejection);
      }
      output.out(`The client ${id} is changed. ${withinSeconds}`);
    });
  command('revoke', 'Revoke a client permanently: its secrets and webhook endpoints stop working.')
    .argument('<id>', 'id from `list`')
    .option('--yes', 'confirm that the client no longer needs access')
    .action(async (id: string, options: Options & { readonly yes?: true }) => {
      if (!options.yes) {
        throw new UsageError(
          'Nothing was changed. A revoked client cannot be used again, and neither can its id. Run the command again with --yes.',
        );
      }
      const result = await read(options, (db, configured) => revokeAsOperator({ db, configured }, { id }));
      if (result === 'overridden one done') {
        output.out(
          `The stored client ${id} is revoked. The client of the configuration file with this id stays in effect.\n`,
        );
        return;
      }
      if (result !== 'done') return reject(result.rejection);
      output.out(`The client ${id} is revoked. It stops working in running gateways within 5 seconds.\n`);
    });
  command('accept', 'Let a client in that was changed by an older version, or directly in the database.')
    .argument('<id>', 'id from `doctor`')
    .option('--state <state>', 'what this command has shown: the client is accepted as it was then')
    .action(async (id: string, { state, ...options }: Options & { readonly state?: string }) => {
      if (state !== undefined) {
        const result = await change(options, (administration) => acceptAsOperator(administration, { id, state }));
        if (result !== 'done') return reject(result.rejection);
        output.out(`The client ${id} is accepted. ${withinSeconds}`);
        return;
      }
      const found = await read(options, (db, configured) => findUnaccepted(db, configured, id));
      if (!found) return reject('unknown');
      output.out(describeClient(found.client));
      output.err(
        `Whoever has its secrets and keys gets this access. If it is right, run: crossward clients accept ${id} --state ${found.state}\n` +
          'If nobody of yours has changed it, treat it as a break-in, and revoke it.\n',
      );
    });
  return clients;
}

function withFacts(command: Command): Command {
  return command
    .option('--name <name>', 'display name')
    .option('--scope <scope>', `what the client may do: ${scopes.join(', ')} (repeatable)`, collect)
    .option(
      '--grant <grant>',
      'EHR with all its care units, such as clinic, or with some: clinic:ward-1,ward-2 (repeatable)',
      collect,
    )
    .option('--return-url <url>', 'where the page for patients may link back to (repeatable)', collect)
    .option(
      '--budget <budget>',
      'held_times, sms_per_day or emails_per_day, such as sms_per_day=500, instead of those of the configuration (repeatable)',
      collect,
    )
    .option('--jwks <file>', 'public keys with which the client signs: a file with a JWK Set or a JWK')
    .option('--jwks-uri <url>', 'URL where the client publishes its keys, instead of --jwks');
}

function collect(value: string, before: unknown): string[] {
  return [...(Array.isArray(before) ? before : []), value];
}

async function readFacts(options: FactOptions): Promise<Partial<Omit<ClientFacts, 'id'>>> {
  const { name, scope, grant, returnUrl, budget, jwks, jwksUri } = options;
  return {
    ...(budget && { budgets: readBudgets(budget) }),
    ...(jwks !== undefined && { jwks: (await readKeys(jwks)) as ClientFacts['jwks'] & object }),
    ...(jwksUri !== undefined && { jwks_uri: jwksUri }),
    ...(name !== undefined && { name }),
    ...(scope && { scopes: scope as Scope[] }),
    ...(grant && { grants: parseGrants(grant) }),
    ...(returnUrl === false ? { return_urls: [] } : Array.isArray(returnUrl) ? { return_urls: returnUrl } : {}),
  };
}

/** Before it is checked. */
function readBudgets(texts: readonly string[]): NonNullable<ClientFacts['budgets']> {
  return Object.fromEntries(
    texts.map((text) => {
      const [name = '', value = ''] = text.split('=');
      return [name, /^\d{1,9}$/.test(value) ? Number(value) : value];
    }),
  );
}

/** A JWK Set, before it is checked. */
async function readKeys(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError(`--jwks: the file cannot be read: ${path}`);
  });
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw new UsageError(
      '--jwks: the file has a private key. Nothing was changed. Give the public key only, as a JWK, and replace the key pair if others may have read the file.',
    );
  }
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) && 'kty' in value ? { keys: [value] } : value;
  } catch {
    throw new UsageError('--jwks: the file is not JSON. It must be a JWK Set or a JWK (RFC 7517).');
  }
}

function readHours(text: string): number {
  const hours = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (hours <= longestOverlapHours) return hours;
  throw new UsageError(`--overlap-hours must be a whole number from 0 to ${longestOverlapHours}.`);
}

function mistaken(mistakes: readonly Mistake[]): UsageError {
  const lines = mistakes.map(({ path, text }) => `\n${optionOf(path)}: ${text}`);
  return new UsageError(`Nothing was changed.${lines.join('')}`);
}

const options = new Map([
  ['name', '--name'],
  ['scopes', '--scope'],
  ['grants', '--grant'],
  ['return_urls', '--return-url'],
  ['budgets', '--budget'],
  ['jwks', '--jwks'],
  ['jwks_uri', '--jwks-uri'],
]);

/** The option in which a mistake is, such as `--grant`. The id is an argument. */
function optionOf([field, ...rest]: Mistake['path']): string {
  const option = options.get(String(field));
  if ((option === '--jwks' || option === '--budget') && rest.length > 0) return `${option}: ${formatPath(rest)}`;
  return option ?? formatPath([field ?? '', ...rest]);
}
