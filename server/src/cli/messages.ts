import { Command } from 'commander';
import { duration } from '../console/frame/parts.ts';
import { inTransactionOrUnknown } from '../db/transactions.ts';
import { type FailedMessage, listFailed, sendAgain } from '../messages/failed.ts';
import { messageFailureText } from '../messages/failure-text.ts';
import { listOpen, noFailureText, type OpenMessage, type OpenState } from '../messages/open-messages.ts';
import { columnHelp } from './column-help.ts';
import { exitCodes } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';
import { type JsonOption, jsonOption, printJson, snakeCase } from './print-json.ts';

export function messagesCommand(output: Output, end: (exitCode: number) => void): Command {
  const messages = new Command('messages').description('Manage messages to patients that were not sent.');
  messages
    .command('failed')
    .description('List failed messages whose code is still pending. Shows no patient data.')
    .option(...jsonOption)
    .addHelpText(...columnHelp('id', 'EHR/care unit', 'channel', 'cause', 'appointment', 'when its code expires'))
    .action(async ({ json }: JsonOption) => {
      const failed = await withDatabase(output, (db) => listFailed(db));
      if (json) printJson(output, failed.map(snakeCase));
      else output.out(failed.length === 0 ? 'No failed messages.\n' : failed.map(line).join(''));
    });
  messages
    .command('list')
    .description('List queued messages, and those that failed in the last 24 hours. Shows no patient data.')
    .option(...jsonOption)
    .addHelpText(
      ...columnHelp(
        'what its code is for',
        'EHR/care unit',
        'channel',
        'state',
        'cause',
        'since when',
        'attempts',
        'next attempt',
        'when its code expires',
        'appointment',
        'id',
      ),
    )
    .action(async ({ json }: JsonOption) => {
      const open = await withDatabase(output, (db) => listOpen(db));
      if (json) printJson(output, open.map(snakeCase));
      else output.out(open.length === 0 ? 'No queued or failed messages.\n' : open.map(openLine).join(''));
    });
  messages
    .command('retry')
    .description('Send a failed message again after its cause was fixed.')
    .argument('<id>', 'message id from `failed`')
    .action(async (id: string) => {
      const isQueued = await withDatabase(output, (db) => inTransactionOrUnknown(db, (tx) => sendAgain(tx, id)));
      if (isQueued) output.out('The message is queued. A running gateway sends it within seconds.\n');
      else output.err('No failed message with this id has a pending code. A caller can request a new code.\n');
      end(isQueued ? exitCodes.fine : exitCodes.failed);
    });
  return messages;
}

function line({ id, emr, careUnitId, channel, appointmentId, failureReason, expiresAt }: FailedMessage): string {
  const until = expiresAt.toISOString();
  return `${id}  ${emr}/${careUnitId}  ${channel}  ${cause(failureReason, 'failed')}  appointment ${appointmentId}  code expires ${until}\n`;
}

function openLine(message: OpenMessage): string {
  const { id, emr, careUnitId, channel, kind, state, attempts, nextAttemptAt, since, ageSeconds, failureReason } =
    message;
  const next = nextAttemptAt !== null && nextAttemptAt <= new Date() ? 'due' : (nextAttemptAt?.toISOString() ?? 'none');
  const age = duration(ageSeconds).replaceAll('\u00a0', ' ');
  const what = `${kind ?? 'unknown'}  ${emr}/${careUnitId}  ${channel}  ${state}  ${cause(failureReason, state)}`;
  const progress = `since ${since.toISOString()} (${age})  attempts ${attempts ?? '?'}  next ${next}`;
  return `${what}  ${progress}  code expires ${message.expiresAt.toISOString()}  appointment ${message.appointmentId}  message ${id}\n`;
}

/** As in the console. The command line does not know the address of the provider. */
function cause(failureReason: string | null, state: OpenState): string {
  return failureReason === null ? noFailureText(state) : messageFailureText(failureReason);
}
