import { Command } from 'commander';
import { readEnvironment } from '../config/environment/environment.ts';
import type { ReloadAnswer } from '../http/routes/reload.ts';
import { createKeyRing } from '../secrets/key-ring.ts';
import { reloadHeader, reloadToken } from '../secrets/reload-token.ts';
import { urlOf } from './doctor/check-gateway.ts';
import { exitCodes, UsageError } from './exit-codes.ts';
import type { Output } from './output.ts';

/** Milliseconds. New connections to EHRs are waited for. */
const longestWait = 60_000;

const explanation = `
Run it where the gateway runs, with the same environment variables: it asks the gateway at HOST and PORT. All workers
follow. Gateways on other machines read their own files.

Exit codes:
  0  the gateway uses the file as it is now
  1  the gateway did not accept the file: the former configuration goes on
  2  no gateway could be asked`;

interface Options {
  readonly force: boolean;
}

export function reloadCommand(output: Output, end: (exitCode: number) => void): Command {
  return new Command('reload')
    .description('Let the running gateway read its configuration file again, without a restart.')
    .option(
      '--force',
      'remove EHRs although writes, codes or holds are open there, and use EHRs that do not answer',
      false,
    )
    .addHelpText('after', explanation)
    .action(async ({ force }: Options) => {
      const answer = await ask(force);
      if (answer.outcome === 'refused') {
        output.err(`The gateway goes on with the former configuration:\n${answer.mistakes.join('\n')}\n`);
      } else output.out(textOf(answer));
      end(answer.outcome === 'refused' ? exitCodes.failed : exitCodes.fine);
    });
}

function textOf({ outcome, added, reconnected, removed, waiting }: ReloadAnswer): string {
  const lines: readonly (readonly [string, readonly string[]])[] = [
    ['EHRs added', added],
    ['EHRs with a new connection', reconnected],
    ['EHRs removed', removed],
    ['Not changed before a restart', waiting],
  ];
  const first =
    outcome === 'changed' ? 'The gateway uses the file as it is now.' : 'The gateway uses this file already.';
  return [
    first,
    ...lines.flatMap(([what, items]) => (items.length > 0 ? [`${what}: ${items.join(', ')}`] : [])),
    '',
  ].join('\n');
}

/** @throws {UsageError} if no gateway answers, or it has another secret key */
async function ask(isForced: boolean): Promise<ReloadAnswer> {
  const { host, port, configurationPath, secretKey } = readEnvironment();
  if (configurationPath === undefined || !secretKey) {
    throw new UsageError('CROSSWARD_CONFIG is not set: the demo has no file to read again.');
  }
  const url = urlOf(host, port);
  const response = await fetch(`${url}/reload?force=${isForced}`, {
    method: 'POST',
    headers: { [reloadHeader]: reloadToken(createKeyRing([secretKey.reveal()]), isForced, Date.now()) },
    signal: AbortSignal.timeout(longestWait),
    redirect: 'manual',
  }).catch(() => {
    throw new UsageError(`No gateway answers at ${url}. Set HOST and PORT to the same values as for the gateway.`);
  });
  if (response.ok) return (await response.json()) as ReloadAnswer;
  throw new UsageError(
    response.status === 404
      ? `The server at ${url} is no gateway that can be asked: it has another CROSSWARD_SECRET_KEY, runs the demo, or is older.`
      : `The gateway at ${url} could not be asked: status ${response.status}.`,
  );
}
