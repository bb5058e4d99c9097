import { type AddressInfo, createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { selfSigned } from '../../../../test/tls/certificates.ts';
import { Secret } from '../../config/environment/secret.ts';
import { smtp } from './smtp.ts';
import { testCertificate } from './test-certificate.ts';
import { inGoodTime, outgoing } from './test-support.ts';

interface Letter {
  readonly from: string;
  readonly to: string[];
  readonly user: string | undefined;
  readonly secure: boolean;
  readonly raw: string;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const close of closing.splice(0)) await close();
});

async function listen(server: SMTPServer | Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  closing.push(() => new Promise((resolve) => server.close(() => resolve(undefined))));
  const { port } = ('server' in server ? server.server.address() : server.address()) as AddressInfo;
  return port;
}

async function smtpServer(options: SMTPServerOptions = {}): Promise<{ port: number; letters: Letter[] }> {
  const letters: Letter[] = [];
  const server = new SMTPServer({
    ...testCertificate,
    authOptional: true,
    logger: false,
    onAuth: ({ username, password }, _session, done) =>
      username === 'clinic' && password === 'hunter2'
        ? done(null, { user: username })
        : done(Object.assign(new Error('Invalid login'), { responseCode: 535 })),
    async onData(stream, session, done) {
      const raw = await text(stream);
      const { mailFrom, rcptTo } = session.envelope;
      letters.push({
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
        user: session.user as string | undefined,
        secure: session.secure,
        raw,
      });
      done();
    },
    ...options,
  });
  server.on('error', () => undefined);
  return { port: await listen(server), letters };
}

const from = 'Kliniken <no-reply@example.org>';
const plain = { host: '127.0.0.1', tls: 'none', from } as const;
const message = () =>
  outgoing({ channel: 'email', to: 'anna@example.org', subject: 'Bekräfta din tid', text: 'Koden är 739158.\n' });
const rejection = (responseCode: number) => Object.assign(new Error('anna@example.org said no'), { responseCode });

describe('with a trusted certificate', () => {
  beforeAll(() => setDefaultCACertificates([...getCACertificates(), testCertificate.cert]));

  it.each(['implicit', 'starttls'] as const)('sends with authentication over TLS: %s', async (tls) => {
    const { port, letters } = await smtpServer({ secure: tls === 'implicit', authOptional: false });
    const sender = smtp({ ...plain, port, tls, username: 'clinic', password: new Secret('hunter2') });
    const one = message();
    await sender.send(one, inGoodTime());
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({
      from: 'no-reply@example.org',
      to: ['anna@example.org'],
      user: 'clinic',
      secure: true,
    });
    expect(letters[0]?.raw).toMatch(/^From: Kliniken <no-reply@example\.org>\r$/m);
    expect(letters[0]?.raw).toMatch(/^To: anna@example\.org\r$/m);
    expect(letters[0]?.raw).toContain(`Message-ID: <${one.id}@example.org>`);
    expect(letters[0]?.raw).toContain('Auto-Submitted: auto-generated');
    expect(letters[0]?.raw).toMatch(/739158/);
  });

  it('reports an incorrect password', async () => {
    const { port } = await smtpServer({ secure: true });
    const sender = smtp({ ...plain, port, tls: 'implicit', username: 'clinic', password: new Secret('wrong') });
    await expect(sender.send(message(), inGoodTime())).rejects.toMatchObject({
      name: 'PermanentFailure',
      reason: 'credentials_rejected_535',
    });
  });
});

it('sends without encryption if configured', async () => {
  const { port, letters } = await smtpServer();
  await smtp({ ...plain, port }).send(message(), inGoodTime());
  expect(letters).toMatchObject([{ secure: false, user: undefined }]);
});

it('does not send unencrypted if STARTTLS is required and missing', async () => {
  const { port, letters } = await smtpServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
  const sending = smtp({ ...plain, tls: 'starttls', port }).send(message(), inGoodTime());
  await expect(sending).rejects.toMatchObject({
    name: 'PermanentFailure',
    reason: expect.stringMatching(/^starttls_rejected_5/),
  });
  expect(letters).toHaveLength(0);
});

it('rejects a certificate of an unknown authority', async () => {
  setDefaultCACertificates([]);
  const { port, letters } = await smtpServer({ secure: true });
  const sending = smtp({ ...plain, tls: 'implicit', port }).send(message(), inGoodTime());
  await expect(sending).rejects.toMatchObject({ name: 'TemporaryFailure', reason: 'certificate' });
  expect(letters).toHaveLength(0);
});

it.each(['implicit', 'starttls'] as const)('trusts only the configured authority: %s', async (tls) => {
  setDefaultCACertificates([]);
  const { port, letters } = await smtpServer({ secure: tls === 'implicit' });
  await smtp({ ...plain, port, tls, ca: testCertificate.cert }).send(message(), inGoodTime());
  expect(letters).toMatchObject([{ secure: true }]);
  for (const ca of [undefined, selfSigned().cert]) {
    const failure = await smtp({ ...plain, port, tls, ca })
      .send(message(), inGoodTime())
      .catch((error) => error);
    expect(failure).toMatchObject({ name: 'TemporaryFailure', reason: 'certificate', message: 'certificate' });
    expect(failure.cause).toBeUndefined();
  }
  expect(letters).toHaveLength(1);
});

it('verifies certificates whatever the environment variables say', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const { port } = await smtpServer({ secure: true });
  const sending = smtp({ ...plain, tls: 'implicit', port }).send(message(), inGoodTime());
  await expect(sending).rejects.toMatchObject({ reason: 'certificate' });
});

it('reports a server without TLS', async () => {
  const { port } = await smtpServer();
  const sending = smtp({ ...plain, tls: 'implicit', port }).send(message(), inGoodTime());
  await expect(sending).rejects.toMatchObject({ name: 'TemporaryFailure', reason: 'tls' });
});

it('rejects a certificate for other names', async () => {
  const { key, cert } = selfSigned();
  const { port, letters } = await smtpServer({ secure: true, key, cert });
  const settings = { ...plain, port, tls: 'implicit', ca: cert } as const;
  await smtp(settings).send(message(), inGoodTime());
  await expect(smtp({ ...settings, host: 'localhost' }).send(message(), inGoodTime())).rejects.toMatchObject({
    reason: 'certificate',
  });
  expect(letters).toHaveLength(1);
});

it('retries after 4yz, and then succeeds', async () => {
  let calls = 0;
  const { port, letters } = await smtpServer({
    onRcptTo: (_address, _session, done) => (++calls === 1 ? done(rejection(450)) : done()),
  });
  const sender = smtp({ ...plain, port });
  const failure = await sender.send(message(), inGoodTime()).catch((error) => error);
  expect(failure).toMatchObject({
    name: 'TemporaryFailure',
    reason: 'recipient_rejected_450',
    message: 'recipient_rejected_450',
  });
  expect(JSON.stringify([failure.stack, failure.cause])).not.toContain('anna');
  await sender.send(message(), inGoodTime());
  expect(letters).toHaveLength(1);
});

it.each([
  ['recipient', { onRcptTo: (_a, _s, done) => done(rejection(550)) }, 'PermanentFailure', 'recipient_rejected_550'],
  ['sender', { onMailFrom: (_a, _s, done) => done(rejection(553)) }, 'PermanentFailure', 'sender_rejected_553'],
  ['connection', { onConnect: (_s, done) => done(rejection(421)) }, 'TemporaryFailure', 'smtp_421'],
  ['connection', { onConnect: (_s, done) => done(rejection(554)) }, 'PermanentFailure', 'smtp_554'],
] satisfies [string, SMTPServerOptions, string, string][])(
  'reports a rejection of the %s',
  async (_, options, name, reason) => {
    const { port } = await smtpServer(options);
    await expect(smtp({ ...plain, port }).send(message(), inGoodTime())).rejects.toMatchObject({ name, reason });
  },
);

it.each([
  ['550 5.1.1', 'recipient_rejected_550'],
  ['550 5.2.1', 'recipient_rejected_550'],
  ['554', 'recipient_rejected_554'],
  ['550 5.7.1', 'sender_rejected_550'],
  ['554 5.7.64', 'sender_rejected_554'],
  ['451 4.7.1', 'sender_rejected_451'],
  ['553 5.1.8', 'sender_rejected_553'],
  ['451 4.3.0', 'smtp_451'],
] as const)('takes the reply %s to a recipient as %s', async (reply, reason) => {
  const [code, enhanced = ''] = reply.split(' ');
  const refusal = Object.assign(new Error(`${enhanced} anna@example.org said no`.trim()), {
    responseCode: Number(code),
  });
  const { port } = await smtpServer({
    hideENHANCEDSTATUSCODES: true,
    onRcptTo: (_address, _session, done) => done(refusal),
  });
  await expect(smtp({ ...plain, port }).send(message(), inGoodTime())).rejects.toMatchObject({ reason });
});

it.each([
  [554, '', 'PermanentFailure', 'smtp_554'],
  [552, '', 'PermanentFailure', 'recipient_rejected_552'],
  [452, '4.2.2 ', 'TemporaryFailure', 'recipient_rejected_452'],
] as const)('reports a rejection of the message itself: %i %s', async (responseCode, enhanced, name, reason) => {
  const refusal = Object.assign(new Error(`${enhanced}said no`), { responseCode });
  const { port } = await smtpServer({
    hideENHANCEDSTATUSCODES: true,
    onData: (stream, _session, done) => void text(stream).then(() => done(refusal)),
  });
  await expect(smtp({ ...plain, port }).send(message(), inGoodTime())).rejects.toMatchObject({ name, reason });
});

it('retries after a connection that was closed, rejected or timed out', async () => {
  const cut = await listen(createServer((socket) => socket.destroy()));
  const silent = await listen(createServer((socket) => void closing.unshift(async () => socket.destroy())));
  const temporary = { name: 'TemporaryFailure' };
  await expect(smtp({ ...plain, port: cut }).send(message(), inGoodTime())).rejects.toMatchObject({
    ...temporary,
    reason: 'connection',
  });
  await expect(smtp({ ...plain, port: silent }).send(message(), AbortSignal.timeout(100))).rejects.toMatchObject({
    ...temporary,
    reason: 'timeout',
  });
  for (const close of closing.splice(0)) await close();
  await expect(smtp({ ...plain, port: cut }).send(message(), inGoodTime())).rejects.toMatchObject({
    ...temporary,
    reason: 'connection_refused',
  });
});

it.each([
  'anna@example.org, eva@example.org',
  'anna@example.org\r\nBcc: eva@example.org',
  'Anna <anna@example.org>',
  'anna',
  '',
])('sends to a single plain address only: not %j', async (to) => {
  const { port, letters } = await smtpServer();
  await expect(smtp({ ...plain, port }).send({ ...message(), to }, inGoodTime())).rejects.toMatchObject({
    name: 'PermanentFailure',
    reason: 'address_invalid',
  });
  expect(letters).toHaveLength(0);
});

it('prevents header injection by any text', async () => {
  const { port, letters } = await smtpServer();
  const subject = 'Hej\r\nBcc: eva@example.org\r\n\r\nHej';
  await smtp({ ...plain, port }).send(
    { ...message(), subject, text: '.\r\n\r\n.\r\nRCPT TO:<eva@example.org>' },
    inGoodTime(),
  );
  expect(letters).toHaveLength(1);
  expect(letters[0]?.to).toEqual(['anna@example.org']);
  const [head = ''] = letters[0]?.raw.split('\r\n\r\n') ?? [];
  expect(head).not.toMatch(/^Bcc:/im);
});
