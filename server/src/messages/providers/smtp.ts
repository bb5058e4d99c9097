import { createTransport } from 'nodemailer';
import type { Secret } from '../../config/secret.ts';
import { PermanentFailure, type Sender, TemporaryFailure } from '../sender.ts';

interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly username?: string;
  readonly password?: Secret;
  readonly from: string;
}

/** Milliseconds, each for one step; the signal ends the whole. */
const timeouts = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 8_000 };

/** An SMTP server, by nodemailer (https://nodemailer.com/smtp). Certificates are verified; `NODE_EXTRA_CA_CERTS` adds one's own. */
export function smtp({ host, port, tls, username, password, from }: SmtpSettings): Sender {
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(username !== undefined && password ? { auth: { user: username, pass: password.reveal() } } : {}),
    ...timeouts,
    logger: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ id, to, subject, text }, signal) {
      if (!isOneAddress(to)) throw new PermanentFailure('address_invalid');
      try {
        await transport.sendMail({
          from,
          // An object is one address, whatever it holds: nothing in it becomes a second recipient or a header.
          to: { name: '', address: to },
          subject: subject ?? '',
          text,
          // The same on every attempt, so that mailboxes can tell a repetition.
          messageId: `<${id}@${domainOf(from)}>`,
          // RFC 3834: nobody's holiday reply.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal,
        });
      } catch (error) {
        throw failureOf(error, signal);
      }
    },
  };
}

function isOneAddress(text: string): boolean {
  return /^[^\s\p{Cc}<>(),;:"[\]\\@]+@[^\s\p{Cc}<>(),;:"\\@]+$/u.test(text);
}

function domainOf(from: string): string {
  return /@([^<>@\s]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
}

/** Faults that no repetition mends, where the server has sent no reply code: https://nodemailer.com/errors */
const permanentCodes = new Set(['EENVELOPE', 'ENOAUTH', 'ECONFIG']);

/** RFC 5321 section 4.2.1: 4yz may pass, 5yz will not. The server's text can quote the address and stays out. */
function failureOf(error: unknown, signal: AbortSignal): TemporaryFailure | PermanentFailure {
  if (signal.aborted) return new TemporaryFailure('timeout');
  const { responseCode, code } = error as { responseCode?: unknown; code?: unknown };
  if (typeof responseCode === 'number') {
    const reason = `smtp_${responseCode}`;
    return responseCode >= 500 ? new PermanentFailure(reason) : new TemporaryFailure(reason);
  }
  const reason = typeof code === 'string' && /^[A-Z0-9_]{1,40}$/.test(code) ? code.toLowerCase() : 'unknown';
  return typeof code === 'string' && permanentCodes.has(code)
    ? new PermanentFailure(reason)
    : new TemporaryFailure(reason);
}
