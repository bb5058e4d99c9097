import type { ConfiguredMessages } from '../config/configuration.ts';
import { readCertificates } from '../config/environment/certificates.ts';
import { type DemoMailbox, demoMailbox } from './providers/demo-mailbox.ts';
import { elks } from './providers/elks.ts';
import { twilio } from './providers/twilio.ts';
import { webhook } from './providers/webhook.ts';
import type { Provider, Sender, Senders } from './sender.ts';

export interface ConfiguredSenders extends Senders {
  /** Set if a channel uses the demo mailbox. */
  readonly mailbox?: DemoMailbox;
}

type Settings = NonNullable<ConfiguredMessages['sms'] | ConfiguredMessages['email']>;

/** @throws {ConfigurationError} when a `ca_file` cannot be read */
export async function createSenders(
  { sms, email }: ConfiguredMessages,
  { now, ...dependencies }: Parameters<typeof demoMailbox>[0] & { readonly now?: () => Date },
): Promise<ConfiguredSenders> {
  const mailbox = demoMailbox(dependencies);
  const isUsed = [sms, email].some((settings) => settings?.provider === 'demo_mailbox');
  return {
    ...(sms ? { sms: await createSender(sms, mailbox, now) } : {}),
    ...(email ? { email: await createSender(email, mailbox, now) } : {}),
    ...(isUsed ? { mailbox } : {}),
  };
}

async function createSender(settings: Settings, mailbox: DemoMailbox, now: (() => Date) | undefined): Promise<Sender> {
  return settings.provider === 'demo_mailbox' ? mailbox : createProvider(settings, now);
}

/** @throws {ConfigurationError} when a `ca_file` cannot be read */
export async function createProvider(
  settings: Exclude<Settings, { readonly provider: 'demo_mailbox' }>,
  now?: () => Date,
): Promise<Provider> {
  switch (settings.provider) {
    case '46elks':
      return elks(settings);
    case 'twilio':
      return twilio(settings);
    case 'webhook':
      return webhook(settings, now);
    case 'smtp': {
      const { ca_file: file } = settings;
      // Loaded only if it is used, because nodemailer is large.
      const { smtp } = await import('./providers/smtp.ts');
      return smtp({ ...settings, ca: file === undefined ? undefined : await readCertificates(file) });
    }
  }
}
