import type { Channel } from '../db/tables/messages.ts';

/**
 * The queue of each channel in pg-boss. A provider that hangs occupies the workers of its own queue only. The names are
 * stored. Earlier versions put e-mails into the queue of the SMS too, whose workers therefore deliver both.
 */
export const queues: Readonly<Record<Channel, string>> = { sms: 'messages', email: 'messages-email' };

export const queueNames = Object.values(queues);
