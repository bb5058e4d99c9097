import { sql } from 'kysely';
import type { Db } from '../../db/kysely.ts';
import type { Channel } from '../../db/tables/messages.ts';
import type { KeyRing } from '../../secrets/key-ring.ts';
import type { Sender } from '../sender.ts';

/** A message as the demo mailbox shows it. */
export interface DeliveredMessage {
  readonly channel: Channel;
  readonly to: string;
  readonly subject?: string;
  readonly text: string;
  readonly appointmentId: string;
  readonly sentAt: Date;
}

export interface DemoMailbox extends Sender {
  /** Newest first. */
  messages(): Promise<DeliveredMessage[]>;
}

interface Dependencies {
  readonly db: Db;
  readonly keys: KeyRing;
  /** Prints to the terminal. Not to the log, which others store and read. */
  readonly print?: (text: string) => void;
}

type Letter = Pick<DeliveredMessage, 'to' | 'subject' | 'text'>;

const mostShown = 1_000;

const contextOf = (id: string) => JSON.stringify(['demo mailbox', id]);

/** Delivers messages to the terminal and to a table, where they stay for a day. */
export function demoMailbox({ db, keys, print = (text) => process.stdout.write(text) }: Dependencies): DemoMailbox {
  return {
    async send({ id, emr, careUnitId, channel, to, subject, text, appointmentId }) {
      const letter: Letter = { to, text, ...(subject === undefined ? {} : { subject }) };
      const sealed = keys.seal('message', JSON.stringify(letter), contextOf(id));
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('demo_mailbox')
        .values({ id, emr, care_unit_id: careUnitId, channel, appointment_id: appointmentId, sealed_content: sealed })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow();
      if (numInsertedOrUpdatedRows !== 0n) print(slip(channel, letter));
      await db
        .deleteFrom('demo_mailbox')
        .where('sent_at', '<', sql<Date>`clock_timestamp() - interval '1 day'`)
        .execute();
    },
    async messages() {
      const rows = await db
        .selectFrom('demo_mailbox')
        .select(['id', 'channel', 'appointment_id', 'sealed_content', 'sent_at'])
        .orderBy('sent_at', 'desc')
        .limit(mostShown)
        .execute();
      return rows.flatMap(({ id, channel, appointment_id, sealed_content: sealed, sent_at }) => {
        const opened = keys.open('message', sealed, contextOf(id));
        if (opened === undefined) return [];
        return [{ ...(JSON.parse(opened) as Letter), channel, appointmentId: appointment_id, sentAt: sent_at }];
      });
    },
  };
}

function slip(channel: Channel, { to, subject, text }: Letter): string {
  const head = `[demo mailbox] ${channel === 'sms' ? 'SMS' : 'E-mail'} to ${to}`;
  const lines = [subject === undefined ? head : `${head}: ${subject}`, ...text.trimEnd().split('\n')];
  // Remove control characters: a clinic's name or an address must not control the terminal.
  return `${lines.map((line) => line.replace(/\p{Cc}/gu, '')).join('\n  ')}\n`;
}
