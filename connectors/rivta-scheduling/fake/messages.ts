import { randomBytes } from 'node:crypto';
import { DOMParser, type Element, MIME_TYPE } from '@xmldom/xmldom';

const soap = 'http://schemas.xmlsoap.org/soap/envelope/';
export const core = 'urn:riv:crm:scheduling:1';
const extension = 'urn:riv:crm:scheduling:1.1';

/** A message that breaks the schema or the binding. */
export class BadMessage extends Error {}

/** An element in a sequence: name, namespace, and whether it must be there, may be, or may be repeated. */
type Rule = readonly [name: string, namespace: string, times: '1' | '?' | '*', children?: readonly Rule[]];

const timeslot: readonly Rule[] = [
  ['startTimeInclusive', core, '?'],
  ['endTimeExclusive', core, '?'],
  ['healthcare_facility', core, '1'],
  ...[
    'performer',
    'bookingId',
    'subject_of_care',
    'purpose',
    'reason',
    'resourceName',
    'healthcare_facility_name',
    'performerName',
    'resourceID',
    'timeTypeName',
    'timeTypeID',
    'careTypeName',
    'careTypeID',
  ].map((name): Rule => [name, core, '?']),
];

const subjectInfo: readonly Rule[] = [
  ...['phone', 'email', 'address', 'coaddress'].map((name): Rule => [name, core, '?']),
  ['firstName', extension, '1'],
  ['middleName', extension, '?'],
  ['lastName', extension, '1'],
];

export function messageNamespace(operation: string): string {
  return `urn:riv:crm:scheduling:${operation}Responder:1`;
}

/** Names with `*` or `?`, in the namespace of the message; `+` is the one of its version 1.1. */
function rules(operation: string, ...names: string[]): readonly Rule[] {
  return names.map((name): Rule => {
    const [, plain = '', times = '1'] = /^\+?(\w+)([?*]?)$/.exec(name) ?? [];
    const namespace = messageNamespace(operation) + (name.startsWith('+') ? '.1' : '');
    const children =
      plain === 'requestedTimeslot' ? timeslot : plain === 'subject_of_care_info' ? subjectInfo : undefined;
    return [plain, namespace, (times || '1') as '1', ...(children ? [children] : [])] as unknown as Rule;
  });
}

const period = ['startDateInclusive', 'endDateInclusive'];
const types = ['timeTypeName?', 'timeTypeID?', 'careTypeName?', 'careTypeID?'];

/** The requests, in the order of the official schemas. */
const requests: Readonly<Record<string, readonly Rule[]>> = Object.fromEntries(
  Object.entries({
    GetAllTimeTypes: ['healthcare_facility', '+careTypeIDs*', '+subject_of_care'],
    GetAllPerformers: ['healthcare_facility', 'timeTypeIDs*', 'careTypeIDs*', 'subject_of_care'],
    GetAvailableTimeslots: ['healthcare_facility', 'bookingId?', ...period, 'performer*', ...types, '+subject_of_care'],
    GetBookingDetails: ['healthcare_facility', 'bookingId'],
    GetSubjectOfCareSchedule: ['healthcare_facility', 'subject_of_care'],
    MakeBooking: ['healthcare_facility_med', 'requestedTimeslot', 'subject_of_care_info', 'notification?'],
    UpdateBooking: ['requestedTimeslot', 'subject_of_care_info?', 'notification?'],
    CancelBooking: ['healthcare_facility', 'bookingId', 'message?'],
  }).map(([operation, names]) => [operation, rules(operation, ...names)]),
);

/** The texts of an element by name, and its structures. */
export interface Read {
  readonly texts: Readonly<Record<string, string | undefined>>;
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly parts: Readonly<Record<string, Read>>;
}

/** A request as a producer with schema validation reads it. @throws BadMessage */
export function readRequest(text: string): { operation: string; header: ReadonlyMap<string, Element>; body: Read } {
  const document = new DOMParser({
    onError: () => {
      throw new BadMessage('malformed XML');
    },
  }).parseFromString(text, MIME_TYPE.XML_TEXT);
  const envelope = document.documentElement;
  if (envelope?.namespaceURI !== soap) throw new BadMessage('no envelope');
  const [header, body] = elements(envelope);
  if (header?.localName !== 'Header' || body?.localName !== 'Body') throw new BadMessage('no header or body');
  const [message] = elements(body);
  const operation = message?.localName ?? '';
  const rule = requests[operation];
  if (!message || !rule || message.namespaceURI !== messageNamespace(operation))
    throw new BadMessage('unknown message');
  const headers = new Map(elements(header).map((it) => [`${it.namespaceURI} ${it.localName}`, it]));
  return { operation, header: headers, body: inSequence(message, rule) };
}

export function elements(parent: Element): Element[] {
  return [...parent.childNodes].filter((it): it is Element => it.nodeType === it.ELEMENT_NODE);
}

const patterns: Readonly<Record<string, RegExp>> = {
  subject_of_care: /^[0-9]{8}[0-9pPtTfF][0-9]{3}$/,
  startDateInclusive: /^[1-9]\d{3}(0[1-9]|1[0-2])([0-2]\d|3[01])$/,
  endDateInclusive: /^[1-9]\d{3}(0[1-9]|1[0-2])([0-2]\d|3[01])$/,
  startTimeInclusive: /^[1-9]\d{3}(0[1-9]|1[0-2])([0-2]\d|3[01])([01]\d|2[0-3])([0-5]\d){2}$/,
  endTimeExclusive: /^[1-9]\d{3}(0[1-9]|1[0-2])([0-2]\d|3[01])([01]\d|2[0-3])([0-5]\d){2}$/,
};

function inSequence(parent: Element, sequence: readonly Rule[]): Read {
  const rest = elements(parent);
  const texts: Record<string, string> = {};
  const lists: Record<string, string[]> = {};
  const parts: Record<string, Read> = {};
  for (const [name, namespace, times, children] of sequence) {
    const found: Element[] = [];
    while (rest[0]?.localName === name && rest[0].namespaceURI === namespace && (times === '*' || found.length === 0)) {
      found.push(rest.shift() as Element);
    }
    const [first] = found;
    if (times === '1' && !first) throw new BadMessage(`${name} is missing or out of order`);
    for (const element of found) {
      const text = element.textContent ?? '';
      if (!children && text === '') throw new BadMessage(`${name} is empty`);
      if (patterns[name]?.test(text) === false) throw new BadMessage(`${name} is not facet-valid`);
    }
    if (first && children) parts[name] = inSequence(first, children);
    if (first && !children) texts[name] = first.textContent ?? '';
    lists[name] = found.map((it) => it.textContent ?? '');
  }
  if (rest.length > 0) throw new BadMessage(`${rest[0]?.localName} is not expected here`);
  return { texts, lists, parts };
}

/** A part of an answer: text, or elements. `undefined` is left out. */
export interface Out {
  readonly name: string;
  readonly namespace: string;
  readonly content: string | readonly (Out | undefined)[];
}

export function out(namespace: string, name: string, content: string | boolean | undefined): Out | undefined {
  return content === undefined ? undefined : { namespace, name, content: String(content) };
}

/** An answer with random prefixes, which differ from one message to the next, as Apache CXF writes them. */
export function envelopeOf(content: Out): string {
  const prefixes = new Map<string, string>();
  const prefixOf = (namespace: string): string => {
    const known = prefixes.get(namespace) ?? `n${randomBytes(2).toString('hex')}${prefixes.size}`;
    prefixes.set(namespace, known);
    return known;
  };
  const write = ({ namespace, name, content: inner }: Out): string => {
    const tag = namespace === '' ? name : `${prefixOf(namespace)}:${name}`;
    const text = typeof inner === 'string' ? escaped(inner) : inner.map((it) => (it ? write(it) : '')).join('');
    return `<${tag}>${text}</${tag}>`;
  };
  const body = write({ namespace: soap, name: 'Body', content: [content] });
  const root = prefixOf(soap);
  const declarations = [...prefixes].map(([namespace, prefix]) => ` xmlns:${prefix}="${namespace}"`).join('');
  return `<${root}:Envelope${declarations} xmlns="urn:riv:interoperability:headers:1">${body
    .replaceAll(/<faultcode>(\w+)</g, `<faultcode xmlns="">${root}:$1<`)
    .replaceAll('<faultstring>', '<faultstring xmlns="">')}</${root}:Envelope>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export function faultOf(code: 'Client' | 'Server', text: string): string {
  const content = [out('', 'faultcode', code), out('', 'faultstring', text)];
  return envelopeOf({ namespace: soap, name: 'Fault', content });
}
