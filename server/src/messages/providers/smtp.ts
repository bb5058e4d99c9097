import { createTransport } from 'nodemailer';
import { trusting } from '../../config/environment/certificates.ts';
import type { Secret } from '../../config/environment/secret.ts';
import { connectionFault } from '../../log/connection-fault.ts';
import { PermanentFailure, type Provider, TemporaryFailure } from '../sender.ts';

interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  readonly tls: 'implicit' | 'starttls' | 'none';
  readonly username?: string;
  readonly password?: Secret;
  readonly from: string;
  /** PEM certificates of additional trusted authorities. */
  readonly ca?: string | undefined;
}

/** Milliseconds for each step. The signal limits the whole. */
const timeouts = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 8_000 };

/** Sends through an SMTP server with nodemailer (https://nodemailer.com/smtp). Always verifies certificates, whatever the environment. */
export function smtp({ host, port, tls, username, password, from, ca }: SmtpSettings): Provider {
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
    address: `${host}:${port}`,
    async send({ id, to, subject, text }, signal) {
      if (!isOneAddress(to)) throw new PermanentFailure('address_invalid');
      try {
        await transport.sendMail({
          from,
          // An object is always one address: its content cannot add a recipient or a header.
          to: { name: '', address: to },
          subject: subject ?? '',
          text,
          // The same on every attempt, so that mailboxes recognise duplicates.
          messageId: `<${id}@${domainOf(from)}>`,
          // RFC 3834: prevents automatic replies.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal,
        });
      } catch (error) {
        throw failureOf(error, signal);
      }
    },
    async greet(signal) {
      try {
        await transport.verify();
        return username === undefined ? 'greets' : 'greets, and accepts the user name and password';
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

/** Errors without a reply code that a retry does not fix: https://nodemailer.com/errors */
const permanentCodes = new Set(['EENVELOPE', 'EAUTH', 'ENOAUTH', 'ECONFIG']);

/** RFC 4954 section 6: mechanism too weak, credentials invalid, encryption required. */
const credentialReplies = new Set([534, 535, 538]);

/** An error of nodemailer. */
interface Fault {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  /** The reply of the server. */
  readonly response?: unknown;
}

/** RFC 5321 section 4.2.1: 4yz is temporary, 5yz permanent. The server's text can quote the address, so it is left out. */
function failureOf(error: unknown, signal: AbortSignal): TemporaryFailure | PermanentFailure {
  if (signal.aborted) return new TemporaryFailure('timeout');
  const fault = error as Fault;
  const { responseCode, code } = fault;
  if (typeof responseCode === 'number') {
    const reason = `${rejectedPart(fault, responseCode)}_${responseCode}`;
    return responseCode >= 500 ? new PermanentFailure(reason) : new TemporaryFailure(reason);
  }
  if (typeof code === 'string' && permanentCodes.has(code)) return new PermanentFailure(words[code] ?? 'configuration');
  return new TemporaryFailure(connectionFault(error)?.kind ?? 'connection');
}

const words: Readonly<Record<string, string>> = {
  EAUTH: 'credentials_rejected',
  ENOAUTH: 'credentials_rejected',
  EENVELOPE: 'address_invalid',
};

/** What the server has rejected. */
function rejectedPart({ code, command, response }: Fault, reply: number): string {
  if (code === 'EAUTH' || credentialReplies.has(reply)) return 'credentials_rejected';
  if (command === 'RCPT TO') return rejectedWithRecipient(response);
  if (command === 'MAIL FROM') return 'sender_rejected';
  if (code === 'ETLS') return 'starttls_rejected';
  return isFullMailbox(response, reply) ? 'recipient_rejected' : 'smtp';
}

/**
 * A server often refuses the sender only once it knows the recipient. The enhanced status code tells (RFC 3463): X.1.7 and X.1.8
 * are the sender's address, X.7 is what the sender may do, such as 5.7.1 for a relay that it may not use, X.3 to X.5 the mail
 * system. The rest is the recipient's address or mailbox.
 */
function rejectedWithRecipient(response: unknown): string {
  const [, subject, detail] = /^[45]\d\d[ -][45]\.(\d{1,3})\.(\d{1,3})\b/.exec(String(response)) ?? [];
  if (subject === '7' || (subject === '1' && (detail === '7' || detail === '8'))) return 'sender_rejected';
  return subject === '3' || subject === '4' || subject === '5' ? 'smtp' : 'recipient_rejected';
}

/** Some servers tell it only after the text: 552 (RFC 5321), 5.2.2 (RFC 3463). */
function isFullMailbox(response: unknown, reply: number): boolean {
  return reply === 552 || /^[45]\d\d[ -][45]\.2\.2\b/.test(String(response));
}
