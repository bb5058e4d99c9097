import type { Configuration } from '../../config/configuration.ts';
import type { Database } from '../../db/database.ts';
import { createDb } from '../../db/kysely.ts';
import { messageFailureText } from '../../messages/failure-text.ts';
import { type FailingProvider, listFailingProviders } from '../../messages/provider-faults.ts';
import { PermanentFailure, TemporaryFailure } from '../../messages/sender.ts';
import { createProvider } from '../../messages/senders.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('messages');
/** Milliseconds. */
const timeoutMs = 15_000;

/**
 * Connects to the providers of SMS and e-mail, and sends no message.
 *
 * @param database says how they have answered the messages of gateways. Absent: it cannot be opened here, or lacks migrations
 */
export async function checkMessages(
  { messages }: Pick<Configuration, 'messages'>,
  database?: Database,
): Promise<Finding[]> {
  const { sms, email } = messages;
  if (!sms && !email) return [found('providers', 'note', 'none is configured: no codes are sent')];
  const failing = database ? await listFailingProviders(createDb(database)) : [];
  const of = (channel: FailingProvider['channel']) => failing.find((it) => it.channel === channel);
  return Promise.all([
    ...(sms ? [checkProvider('SMS', sms, of('sms'))] : []),
    ...(email ? [checkProvider('e-mail', email, of('email'))] : []),
  ]);
}

type Settings = NonNullable<Configuration['messages']['sms'] | Configuration['messages']['email']>;

async function checkProvider(
  channel: string,
  settings: Settings,
  failing: FailingProvider | undefined,
): Promise<Finding> {
  if (settings.provider === 'demo_mailbox') {
    return found(channel, 'note', 'the demo mailbox: messages reach no patient');
  }
  try {
    const provider = await createProvider(settings);
    try {
      const shown = await provider.greet(AbortSignal.timeout(timeoutMs));
      if (failing) {
        const { failureReason, since } = failing;
        const cause = messageFailureText(failureReason, provider.address);
        return found(
          channel,
          'problem',
          `${settings.provider} takes no messages since ${since.toISOString()}: ${cause}`,
        );
      }
      return found(channel, 'ok', `${settings.provider} at ${provider.address} ${shown}`);
    } catch (error) {
      if (!(error instanceof TemporaryFailure || error instanceof PermanentFailure)) throw error;
      return found(channel, 'problem', `${settings.provider}: ${messageFailureText(error.reason, provider.address)}`);
    }
  } catch (error) {
    if (error instanceof ConfigurationError) return found(channel, 'problem', error.message);
    throw error;
  }
}
