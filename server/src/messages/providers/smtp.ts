import { createTransport } from 'nodemailer';
import { trusting } from '../../config/certificates.ts';
import type { Secret } from '../../config/secret.ts';
import { PermanentFailure, type Sender, TemporaryFailure } from '../sender.ts';
import { connectionFailure } from './connection-failure.ts';

interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly username?: string;
  readonly password?: Secret;
  readonly from: string;
  /** PEM certificates of authorities that are trusted beside the usual ones. */
  readonly ca?: string | undefined;
}

/** Milliseconds, each for one step; the signal ends the whole. */
const timeouts = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 8_000 };

/** An SMTP server, by nodemailer (https://nodemailer.com/smtp). Certificates are verified whatever the environment says. */
export function smtp({ host, port, tls, username, password, from, ca }: SmtpSettings): Sender {
  const transport = createTransport({
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'starttls',
    ignoreTLS: tls === 'none',
    ...(username !== undefined && password ? { auth: { user: username, pass: password.reveal() } } : {}),
    ...timeouts,
    tls: { rejectUnauthorized: true, ...(ca === undefined ? {} : { secureContext: trusting(ca) }) },
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
const permanentCodes = new Set(['EENVELOPE', 'EAUTH', 'ENOAUTH', 'ECONFIG']);

/** RFC 4954 section 6: the mechanism is too weak, the credentials are wrong, encryption is wanted for them. */
const credentialReplies = new Set([534, 535, 538]);

/** What nodemailer throws. */
interface Fault {
  readonly code?: unknown;
  /** Of the system or TLS, beneath a code of nodemailer's own. */
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
}

/** RFC 5321 section 4.2.1: 4yz may pass, 5yz will not. The server's text can quote the address and stays out. */
function failureOf(error: unknown, signal: AbortSignal): TemporaryFailure | PermanentFailure {
  if (signal.aborted) return new TemporaryFailure('timeout');
  const fault = error as Fault;
  const { responseCode, code, originalCode } = fault;
  if (typeof responseCode === 'number') {
    const reason = `${refusedPart(fault, responseCode)}_${responseCode}`;
    return responseCode >= 500 ? new PermanentFailure(reason) : new TemporaryFailure(reason);
  }
  if (typeof code === 'string' && permanentCodes.has(code)) return new PermanentFailure(words[code] ?? 'configuration');
  return new TemporaryFailure(connectionFailure(originalCode ?? code));
}

const words: Readonly<Record<string, string>> = {
  EAUTH: 'credentials_refused',
  ENOAUTH: 'credentials_refused',
  EENVELOPE: 'address_invalid',
};

/** What the server has refused. */
function refusedPart({ code, command }: Fault, reply: number): string {
  if (code === 'EAUTH' || credentialReplies.has(reply)) return 'credentials_refused';
  if (command === 'RCPT TO') return 'recipient_refused';
  if (command === 'MAIL FROM') return 'sender_refused';
  if (code === 'ETLS') return 'starttls_refused';
  return 'smtp';
}
