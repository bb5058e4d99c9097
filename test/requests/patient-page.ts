import type { Configuration } from '../../server/src/config/configuration.ts';
import type { Gateway, GatewayResponse } from '../gateway/gateway.ts';
import { type Appointment, book, sodermalm } from './bookings.ts';
import { careUnitOf, codeFor, confirmationOf, eventually, incorrectCodes, rowsOf, startCancellation } from './codes.ts';

export const publicUrl = 'https://appointments.example.org';

/** Turns the pages for patients on. */
export function withPages(configuration: Configuration, url = publicUrl): Configuration {
  return { ...configuration, http: { ...configuration.http, public_url: url } };
}

/** The path of the page for this appointment, without the public URL. */
export function pagePath(appointment: Appointment): string {
  const { page_url } = confirmationOf(appointment);
  if (page_url === null) throw new Error('The confirmation has no page');
  return new URL(page_url).pathname;
}

/** A page as a browser shows it, after redirects. */
export interface ShownPage {
  readonly path: string;
  readonly status: number;
  readonly headers: GatewayResponse['headers'];
  readonly html: string;
  /** The text without tags, with single spaces. */
  readonly text: string;
  readonly heading: string;
}

export interface Fields {
  readonly action?: string;
  readonly code?: string;
}

/** A browser without JavaScript, which sends no credentials. */
export function browserOf(gateway: Gateway) {
  async function open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ShownPage> {
    const response = await gateway.request('GET', path, { client: null, headers });
    const html = response.text;
    return {
      path,
      status: response.status,
      headers: response.headers,
      html,
      text: textOf(html),
      heading: textOf(/<h1>(.*?)<\/h1>/s.exec(html)?.[1] ?? ''),
    };
  }
  /** Sends a form and returns the response itself. */
  const post = (path: string, fields: Fields, headers: Readonly<Record<string, string>> = {}) =>
    gateway.request('POST', path, {
      client: null,
      body: new URLSearchParams({ ...fields }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  /** Sends a form and follows the redirect. */
  async function submit(path: string, fields: Fields): Promise<ShownPage> {
    const { status, headers } = await post(path, fields);
    if (status !== 303) throw new Error(`The response to the form was ${status}`);
    const { pathname, search } = new URL(headers.location ?? '', new URL(path, publicUrl));
    return open(pathname + search);
  }
  return {
    open,
    post,
    submit,
    enter: (path: string, code: string) => submit(path, { action: 'confirm', code }),
  };
}

function textOf(html: string): string {
  return html
    .replace(/<head>.*?<\/head>/s, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The code of an appointment, once the gateway knows that its message has left. */
async function sentCode(gateway: Gateway, appointment: Appointment): Promise<string> {
  const code = await codeFor(gateway, appointment.id);
  await eventually(async () => {
    const { id } = confirmationOf(appointment);
    const queued = "SELECT id FROM messages WHERE confirmation_id = $1 AND state = 'queued'";
    if ((await rowsOf(gateway, queued, [id])).length > 0) throw new Error('The message is queued');
  });
  return code;
}

/** Sets what became of the message with the code. */
export async function setDelivery(
  gateway: Gateway,
  appointment: Appointment,
  delivery: 'queued' | 'delayed' | 'failed',
) {
  const queued = "state = 'queued', sealed_content = '\\x00', completed_at = NULL";
  const values = {
    queued: `${queued}, created_at = clock_timestamp()`,
    delayed: `${queued}, delayed_at = clock_timestamp()`,
    failed: "state = 'failed', completed_at = clock_timestamp()",
  };
  await rowsOf(gateway, `UPDATE messages SET ${values[delivery]} WHERE confirmation_id = $1`, [
    confirmationOf(appointment).id,
  ]);
}

/** A booking that awaits its code, with its page. */
export async function bookWithPage(gateway: Gateway, booking: Parameters<typeof book>[1] = {}) {
  const appointment = await book(gateway, { careUnit: sodermalm, ...booking });
  return { appointment, path: pagePath(appointment), code: await sentCode(gateway, appointment) };
}

/** A cancellation that awaits its code, with its page. */
export async function cancelWithPage(gateway: Gateway, careUnit?: string) {
  const { original, view } = await startCancellation(gateway, careUnit);
  return { original, appointment: view, path: pagePath(view), code: await sentCode(gateway, view) };
}

/** Uses up the attempts of a code. */
export async function lock(gateway: Gateway, { id }: Appointment, code: string, careUnit = sodermalm): Promise<void> {
  for (const incorrect of incorrectCodes(code, 5)) await careUnitOf(gateway, careUnit).confirm(id, incorrect);
}
