import type { Configuration } from '../../config/configuration.ts';
import { messageFailureText } from '../../messages/failure-text.ts';
import { PermanentFailure, TemporaryFailure } from '../../messages/sender.ts';
import { createProvider } from '../../messages/senders.ts';
import { ConfigurationError } from '../../startup/configuration-error.ts';
import { type Finding, findingsOf } from './finding.ts';

const found = findingsOf('messages');
/** Milliseconds. */
const patience = 15_000;

/** Connects to the providers of SMS and e-mail, and sends no message. */
export async function checkMessages({ messages }: Configuration): Promise<Finding[]> {
  const { sms, email } = messages;
  if (!sms && !email) return [found('providers', 'note', 'none is configured: no codes are sent')];
  return Promise.all([...(sms ? [checkProvider('SMS', sms)] : []), ...(email ? [checkProvider('e-mail', email)] : [])]);
}

type Settings = NonNullable<Configuration['messages']['sms'] | Configuration['messages']['email']>;

async function checkProvider(channel: string, settings: Settings): Promise<Finding> {
  if (settings.provider === 'demo_mailbox') {
    return found(channel, 'note', 'the demo mailbox: messages reach no patient');
  }
  try {
    const provider = await createProvider(settings);
    try {
      const shown = await provider.greet(AbortSignal.timeout(patience));
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
