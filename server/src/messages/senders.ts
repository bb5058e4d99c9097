import type { ConfiguredMessages } from '../config/configuration.ts';
import { type DemoMailbox, demoMailbox } from './providers/demo-mailbox.ts';
import { elks } from './providers/elks.ts';
import { smtp } from './providers/smtp.ts';
import { twilio } from './providers/twilio.ts';
import { webhook } from './providers/webhook.ts';
import type { Sender, Senders } from './sender.ts';

export interface ConfiguredSenders extends Senders {
  /** The one behind either channel, where the configuration names it. */
  readonly mailbox?: DemoMailbox;
}

type Settings = NonNullable<ConfiguredMessages['sms'] | ConfiguredMessages['email']>;

export function createSenders(
  { sms, email }: ConfiguredMessages,
  means: Parameters<typeof demoMailbox>[0],
): ConfiguredSenders {
  const mailbox = demoMailbox(means);
  const isUsed = [sms, email].some((settings) => settings?.provider === 'demo_mailbox');
  return {
    ...(sms ? { sms: createSender(sms, mailbox) } : {}),
    ...(email ? { email: createSender(email, mailbox) } : {}),
    ...(isUsed ? { mailbox } : {}),
  };
}

function createSender(settings: Settings, mailbox: DemoMailbox): Sender {
  switch (settings.provider) {
    case 'demo_mailbox':
      return mailbox;
    case '46elks':
      return elks(settings);
    case 'twilio':
      return twilio(settings);
    case 'webhook':
      return webhook(settings);
    case 'smtp':
      return smtp(settings);
  }
}
