import { type PatientDetails, tidyName } from '@crossward/connector-kit';
import type { Static } from 'typebox';
import type { Client } from '../clients/client-registry.ts';
import { isLoopbackHost } from '../config/rules/loopback.ts';
import type { EhrConnection } from '../ehr/connection.ts';
import { inBody } from '../problems/places.ts';
import { problemAt } from '../problems/problem.ts';
import type { patientDetailsSchema } from './contract.ts';

/**
 * What the caller tells about the patient, as far as the EHR takes it.
 *
 * @throws Problem `request_invalid` if the EHR needs the name and it is absent, or takes no details
 */
export function readPatientDetails(
  { capabilities }: EhrConnection,
  sent: Static<typeof patientDetailsSchema> | undefined,
): PatientDetails | undefined {
  const isRequired = capabilities.patientDetails === 'required';
  if (!sent) {
    if (isRequired) throw missing('patient_details');
    return undefined;
  }
  const place = inBody('patient_details');
  if (!capabilities.patientDetails) {
    throw problemAt(place, 'request_invalid', 'This EHR takes no `patient_details`: it knows its patients.');
  }
  for (const name of ['given_name', 'family_name'] as const) {
    if (isRequired && sent[name] === undefined) throw missing(`patient_details/${name}`);
  }
  const { given_name = null, family_name = null, phone = null, email = null } = sent;
  return { givenName: tidyName(given_name) || null, familyName: tidyName(family_name) || null, phone, email };
}

function missing(name: string) {
  return problemAt(inBody(name), 'request_invalid', `/${name} is missing. This EHR cannot look up the patient.`);
}

/**
 * The comment of a request. `undefined`: none was sent. `null`: it is to be cleared.
 *
 * @throws Problem `request_invalid` if the EHR takes no comment of this length, or none with these characters
 */
export function readComment({ capabilities }: EhrConnection, sent: string | undefined): string | null | undefined {
  const { commentLength = Number.POSITIVE_INFINITY, commentsWithoutEmoji = false } = capabilities;
  if (sent !== undefined && sent.length > commentLength) {
    const detail = `/comment is too long: this EHR takes up to ${commentLength} characters.`;
    throw problemAt(inBody('comment'), 'request_invalid', detail);
  }
  if (commentsWithoutEmoji && sent !== undefined && /[\u{10000}-\u{10FFFF}]/u.test(sent)) {
    const detail = '/comment has characters that this EHR cannot store: emoji, or others beyond U+FFFF.';
    throw problemAt(inBody('comment'), 'request_invalid', detail);
  }
  return sent === undefined ? undefined : sent || null;
}

/**
 * Where the page for the patient links back to. The configuration of the client lists the URLs that are allowed.
 *
 * @throws Problem `return_url_not_allowed`
 */
export function readReturnUrl(text: string | undefined, { returnUrls }: Pick<Client, 'returnUrls'>) {
  if (text === undefined) return undefined;
  const wanted = URL.canParse(text) ? new URL(text) : undefined;
  if (wanted && !wanted.username && !wanted.password && returnUrls.some((it) => covers(new URL(it), wanted))) {
    return wanted.href;
  }
  throw problemAt(
    inBody('return_url'),
    'return_url_not_allowed',
    'The URL does not begin with a URL that the configuration of this client allows.',
  );
}

/** Same origin, and the same path or one below it. The port of a loopback address may differ (RFC 8252 section 7.3). */
function covers(allowed: URL, wanted: URL): boolean {
  const isSameHost = allowed.protocol === wanted.protocol && allowed.hostname === wanted.hostname;
  if (!isSameHost || (allowed.port !== wanted.port && !isLoopbackHost(allowed.hostname))) return false;
  const folder = allowed.pathname.endsWith('/') ? allowed.pathname : `${allowed.pathname}/`;
  return wanted.pathname === allowed.pathname || wanted.pathname.startsWith(folder);
}
