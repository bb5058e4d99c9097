import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ProxiedGateway, startProxiedGateway } from '../../../test/postgres-proxy/proxied-gateway.ts';
import type { Matches, Way } from '../../../test/postgres-proxy/ways.ts';
import { freePort } from '../../../test/processes/free-port.ts';
import { book, sodermalm } from '../../../test/requests/bookings.ts';
import { eventually, rowsOf } from '../../../test/requests/codes.ts';
import { readEvents } from '../../../test/requests/events.ts';
import { Secret } from '../config/environment/secret.ts';

let gateway: ProxiedGateway;
beforeAll(async () => {
  // Nothing listens there.
  const url = `http://127.0.0.1:${await freePort()}/sms`;
  gateway = await startProxiedGateway({
    configure: (demo) => ({
      ...demo,
      messages: { ...demo.messages, sms: { provider: 'webhook', url, secret: new Secret('a secret of the tests') } },
    }),
  });
});
afterAll(() => gateway.close());

const marks: Matches = ({ kind, statements }) =>
  kind !== 'part' && statements.some((text) => /UPDATE messages SET delayed_at/.test(text));

async function counted(): Promise<number> {
  const { text } = await gateway.request('GET', '/metrics', { client: null });
  return Number(/^crossward_messages_delayed_total\{channel="sms"\} (\S+)$/m.exec(text)?.[1] ?? 0);
}

test.each<Way>([{ kind: 'before' }, { kind: 'after' }, { kind: 'in request' }, { kind: 'in answer' }])(
  'a late message is told once by event, metric and log, if the connection breaks at its mark: %o',
  async (way) => {
    const before = await counted();
    const cut = gateway.proxy.cutNext(way, marks);
    const { id } = await book(gateway, { careUnit: sodermalm });
    const [message] = await rowsOf<{ id: string }>(
      gateway,
      `UPDATE messages SET created_at = created_at - interval '1 minute' WHERE first_appointment_id = $1 RETURNING id`,
      [id],
    );
    const lines = () =>
      gateway.logLines.map((line) => JSON.parse(line)).filter((it) => it.message_id === message?.id && it.level === 40);
    await cut.settled;
    await eventually(() => expect(lines()).toEqual([expect.objectContaining({ msg: 'message delayed' })]));
    expect(await counted()).toBe(before + 1);
    await eventually(async () => {
      const { events } = await readEvents(gateway);
      expect(events.filter((it) => it.type === 'message.delayed' && it.data.message_id === message?.id)).toHaveLength(
        1,
      );
    });
  },
);
