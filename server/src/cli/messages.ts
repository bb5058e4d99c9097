import { Command } from 'commander';
import { inTransactionOrUnknown } from '../db/in-transaction-or-unknown.ts';
import { type FailedMessage, listFailed, sendAgain } from '../messages/failed.ts';
import { listOpen, type OpenMessage } from '../messages/open-messages.ts';
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
    .action(async ({ json }: JsonOption) => {
      const failed = await withDatabase(output, (db) => listFailed(db));
      if (json) printJson(output, failed.map(snakeCase));
      else output.out(failed.length === 0 ? 'No failed messages.\n' : failed.map(line).join(''));
    });
  messages
    .command('list')
    .description('List queued, retried and failed messages. Shows no patient data.')
    .option(...jsonOption)
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
  return `${id}  ${emr}/${careUnitId}  ${channel}  ${failureReason}  appointment ${appointmentId}  code expires ${until}\n`;
}

function openLine(message: OpenMessage): string {
  const { id, emr, careUnitId, channel, state, attempts, nextAttemptAt, ageSeconds, appointmentId, expiresAt } =
    message;
  const next = nextAttemptAt?.toISOString() ?? 'none';
  const progress = `${state}  attempts ${attempts ?? '?'}  next ${next}  age ${ageSeconds} s`;
  const until = expiresAt.toISOString();
  return `${id}  ${emr}/${careUnitId}  ${channel}  ${progress}  appointment ${appointmentId}  code expires ${until}\n`;
}
