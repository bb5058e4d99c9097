/** @module-tag any-database */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../test/gateway/gateway.ts';
import { eventually } from '../../../test/requests/codes.ts';
import type { Configuration } from '../config/configuration.ts';
import { Secret } from '../config/environment/secret.ts';
import type { Channel } from '../db/tables/messages.ts';

/** Accepts connections and never answers. */
const held: Socket[] = [];
const hanging = createServer((socket) => held.push(socket)).listen(0, '127.0.0.1');
await once(hanging, 'listening');
const letters: string[] = [];
const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  async onData(stream, _session, done) {
    letters.push(await text(stream));
    done();
  },
});
const mailServer = mail.listen(0, '127.0.0.1');
await once(mailServer, 'listening');
const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port;

const configure = (demo: Configuration): Configuration => ({
  ...demo,
  messages: {
    sms: { provider: 'webhook', url: `http://127.0.0.1:${portOf(hanging)}/sms`, secret: new Secret('a secret') },
    email: {
      provider: 'smtp',
      host: '127.0.0.1',
      port: portOf(mailServer),
      tls: 'none',
      from: 'no-reply@clinic.example',
    },
  },
});
const gateway = await startGateway({ configure });
const other = await startGateway({ configure, beside: gateway });
afterAll(async () => {
  // Ends the attempts, so that the gateways need not wait for them.
  hanging.close();
  for (const socket of held) socket.destroy();
  await other.close();
  await gateway.close();
  mail.close();
});

async function send({ deps }: Gateway, channel: Channel, to: string): Promise<void> {
  const { db, outbox } = deps.services;
  await db.transaction().execute((tx) =>
    outbox.enqueue(tx, {
      confirmationId: randomUUID(),
      emr: 'sandbox-se',
      careUnitId: 'sodermalm',
      kind: 'booking',
      channel,
      to,
      language: 'sv',
      clinicName: 'Södermalms vårdcentral',
      timeZone: 'Europe/Stockholm',
      pageUrl: null,
      appointments: [{ id: randomUUID(), start: new Date('2030-03-20T08:00:00Z') }],
      code: '739158',
      expiresAt: new Date(Date.now() + 600_000),
    }),
  );
}

test('e-mails leave at once while the SMS provider hangs with more messages than all gateways send at a time', async () => {
  const [sms, emails] = [100, 4];
  for (let count = 0; count < sms; count++) await send(gateway, 'sms', '+46700000123');
  // Each gateway has as many attempts under way as it makes at a time.
  await eventually(() => expect(held.length).toBeGreaterThanOrEqual(16));
  for (let count = 0; count < emails; count++) {
    await send(count % 2 ? other : gateway, 'email', `p-${count}@patients.example`);
  }
  await eventually(() => expect(letters).toHaveLength(emails));
  // In one queue the e-mails would be behind all SMS.
  expect(held.length).toBeLessThan(sms);
});
