import type { FastifyRequest } from 'fastify';
import { urlMistake } from '../../ehr/guard/address-rules.ts';
import { problemAt } from '../../problems/problem.ts';
import type { Subscription, SubscriptionDetails } from '../../webhooks/endpoint.ts';
import type { NewSubscription } from '../../webhooks/subscription-columns.ts';
import { noteLost } from '../conditions.ts';
import { accessOf, baseOf } from '../face.ts';
import { invalid, unprocessable } from '../from-fhir/faults.ts';
import { keptOfResource, lostElements } from '../from-fhir/lost.ts';
import { checked, shows } from '../native.ts';
import { readCriteria } from './criteria.ts';
import { readHeaders } from './headers.ts';
import { type SentExtension, type SentSubscription, subscriptionSchema } from './schema.ts';
import { backport } from './urls.ts';

/** What a client wants of a Subscription. */
interface Wish {
  readonly status: SentSubscription['status'];
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly subscription: NewSubscription;
}

const kept = {
  ...keptOfResource,
  status: true,
  reason: true,
  criteria: true,
  end: true,
  channel: true,
  error: true,
} as const;

/**
 * Reads a Subscription that a client has sent.
 *
 * @param before what is stored: its headers are shown without their values, and sent so in an update
 * @throws Problem `request_invalid`, `webhook_url_rejected`, each with its place
 */
export function readSubscription(request: FastifyRequest, sent: unknown, before?: Subscription): Wish {
  const subscription = checked(request, subscriptionSchema, sent);
  const { channel, criteria, _criteria, reason, end } = subscription;
  if (channel.type !== 'rest-hook' || channel._type !== undefined) {
    throw unprocessable('/channel/type', 'The channel is rest-hook.', 'not-supported');
  }
  const access = accessOf(request);
  const filters = valuesOf(_criteria?.extension ?? [], '/criteria', { [backport.filter]: 'valueString' });
  const names = filters.map(([, value]) => String(value));
  const { types, filter } = readCriteria(criteria, names, baseOf(request), access);
  const { [backport.heartbeat]: heartbeat, ...more } = readChannelExtensions(channel.extension ?? []);
  const details: SubscriptionDetails = {
    ...{ criteria, filters: names, reason, publicUrl: request.server.endpointDeps.publicUrl() },
    ...readContent(channel, criteria, shows(request, 'Appointment')),
    headers: readHeaders(channel.header ?? [], before?.details.headers ?? []),
    timeoutSeconds: more[backport.timeout] ?? null,
    maxCount: more[backport.maxCount] ?? null,
  };
  noteLost(request, lostElements(subscription, kept, { _criteria }));
  return {
    status: subscription.status,
    url: readUrl(request, channel.endpoint),
    eventTypes: types,
    subscription: {
      ...{ details, filter, emr: access.ehr.id, careUnitId: access.careUnit.id },
      heartbeatSeconds: heartbeat ?? null,
      endsAt: end === undefined ? null : readEnd(end),
    },
  };
}

function readUrl({ server }: FastifyRequest, endpoint: string | undefined): string {
  if (endpoint === undefined) throw invalid('/channel/endpoint', 'A rest-hook needs an endpoint.', 'required');
  const mistake = urlMistake(endpoint, server.endpointDeps.webhooks);
  if (mistake === undefined) return endpoint;
  throw problemAt({ in: 'body', pointer: '/channel/endpoint' }, 'webhook_url_rejected', mistake);
}

function readEnd(end: string): Date {
  const at = new Date(end);
  if (!Number.isNaN(at.getTime())) return at;
  throw invalid('/end', 'The end is no time.');
}

/** Seconds. */
const shortestHeartbeat = 60;
const longestHeartbeat = 31 * 86_400;

function readChannelExtensions(extensions: readonly SentExtension[]): Readonly<Record<string, number>> {
  const values = valuesOf(extensions, '/channel', {
    [backport.heartbeat]: 'valueUnsignedInt',
    [backport.timeout]: 'valueUnsignedInt',
    [backport.maxCount]: 'valuePositiveInt',
  });
  const read = Object.fromEntries(values.map(([url, value]) => [url, Number(value)]));
  const { [backport.heartbeat]: seconds = shortestHeartbeat, [backport.timeout]: timeout = 1 } = read;
  if (seconds < shortestHeartbeat || seconds > longestHeartbeat) {
    const detail = `A heartbeat has a period of ${shortestHeartbeat} to ${longestHeartbeat} seconds.`;
    throw unprocessable('/channel/extension', detail, 'not-supported');
  }
  if (timeout === 0) throw unprocessable('/channel/extension', 'A timeout is at least one second.');
  return read;
}

/** The values of extensions by URL, each once, unless it is a filter. */
function valuesOf(
  extensions: readonly SentExtension[],
  pointer: string,
  known: Readonly<Record<string, Exclude<keyof SentExtension, 'url'>>>,
): (readonly [string, string | number])[] {
  return extensions.map((extension, index) => {
    const { url } = extension;
    const place = `${pointer}/extension/${index}`;
    const name = known[url];
    if (!name) throw unprocessable(place, 'This extension is not known here.', 'not-supported');
    const value = extension[name];
    if (value === undefined) throw invalid(place, `The extension needs a ${name}.`, 'required');
    const isRepeated = extensions.findIndex((it) => it.url === url) < index && url !== backport.filter;
    if (isRepeated) throw unprocessable(place, 'The extension is there already.');
    return [url, value] as const;
  });
}

const json = /^application\/(fhir\+)?json(\s*;\s*fhirVersion=4\.0(\.1)?)?$/;

/**
 * What notifications contain. A search as criteria, without a payload, is that of R4: a request without a body.
 *
 * @param mayRead whether the client may read Appointments
 */
function readContent(
  { payload, _payload }: SentSubscription['channel'],
  criteria: string,
  mayRead: boolean,
): Pick<SubscriptionDetails, 'content' | 'mediaType'> {
  if (payload === undefined && _payload === undefined && criteria.startsWith('Appointment')) {
    return { content: 'none', mediaType: null };
  }
  if (payload === undefined || !json.test(payload)) {
    throw unprocessable('/channel/payload', 'The payload is application/fhir+json.', 'not-supported');
  }
  const place = '/channel/payload/extension';
  const [[, content] = []] = valuesOf(_payload?.extension ?? [], '/channel/payload', {
    [backport.content]: 'valueCode',
  });
  if (content === undefined) {
    const detail = `The extension ${backport.content} says what a notification contains: empty, id-only or full-resource.`;
    throw invalid(place, detail, 'required');
  }
  if (content !== 'empty' && content !== 'id-only' && content !== 'full-resource') {
    throw invalid(place, 'The content is empty, id-only or full-resource.');
  }
  if (content === 'full-resource' && criteria.startsWith('https://gematik.de/fhir/isik/')) {
    throw unprocessable(place, 'ISiK allows id-only and empty.');
  }
  if (content === 'full-resource' && !mayRead) {
    throw unprocessable(place, 'The client may not read Appointments: take id-only or empty.');
  }
  return { content, mediaType: payload };
}
