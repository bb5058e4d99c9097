import { Command } from 'commander';
import { type FailedMessage, listFailed, sendAgain } from '../messages/failed.ts';
import { listOpen, type OpenMessage } from '../messages/open-messages.ts';
import { exitCodes } from './exit-codes.ts';
import { withDatabase } from './gateway-database.ts';
import type { Output } from './output.ts';

export function messagesCommand(output: Output, end: (exitCode: number) => void): Command {
  const messages = new Command('messages').description('Look after messages to patients that could not be sent.');
  messages
    .command('failed')
    .description('List those whose code is still awaited. Nothing of a patient is shown.')
    .action(async () => {
      const failed = await withDatabase(output, listFailed);
      output.out(failed.length === 0 ? 'No message has failed that is still of use.\n' : failed.map(line).join(''));
    });
  messages
    .command('list')
    .description('List those that wait, are being retried or have failed. Nothing of a patient is shown.')
    .action(async () => {
      const open = await withDatabase(output, listOpen);
      output.out(open.length === 0 ? 'No message waits or has failed.\n' : open.map(openLine).join(''));
    });
  messages
    .command('retry')
    .description('Have one sent again, when what kept it from being sent has been put right.')
    .argument('<id>', 'of the message, as `failed` shows it')
    .action(async (id: string) => {
      const isQueued = await withDatabase(output, (db) => sendAgain(db, id));
      if (isQueued) output.out('The message is queued; a running gateway sends it within seconds.\n');
      else output.err('No failed message with this id is of use any more. A caller can ask for a fresh code.\n');
      end(isQueued ? exitCodes.fine : exitCodes.failed);
    });
  return messages;
}

function line({ id, emr, careUnitId, channel, appointmentId, failureReason, expiresAt }: FailedMessage): string {
  const until = expiresAt.toISOString();
  return `${id}  ${emr}/${careUnitId}  ${channel}  ${failureReason}  appointment ${appointmentId}  code until ${until}\n`;
}

function openLine(message: OpenMessage): string {
  const { id, emr, careUnitId, channel, state, attempts, nextAttemptAt, ageSeconds, appointmentId, expiresAt } =
    message;
  const next = nextAttemptAt?.toISOString() ?? 'none';
  const progress = `${state}  attempts ${attempts ?? '?'}  next ${next}  age ${ageSeconds} s`;
  const until = expiresAt.toISOString();
  return `${id}  ${emr}/${careUnitId}  ${channel}  ${progress}  appointment ${appointmentId}  code until ${until}\n`;
}
