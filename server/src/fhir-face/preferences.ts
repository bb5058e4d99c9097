import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem, problemAt } from '../problems/problem.ts';
import { toXml } from './xml.ts';

/** A preference in `Prefer`: https://hl7.org/fhir/R4/http.html#ops */
export function preferenceOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  name: 'return' | 'handling',
): string | undefined {
  const parts = [headers.prefer ?? []].flat().flatMap((it) => it.split(/[,;]/));
  const found = parts.map((it) => it.trim().split('=')).find(([key]) => key?.trim().toLowerCase() === name);
  return found?.[1]?.trim().replaceAll('"', '');
}

/** A media type, or a range of them. A client can name the version of FHIR. */
function readType(text: string) {
  const [name = '', ...parameters] = text.split(';').map((it) => it.trim().toLowerCase());
  const parameter = (key: string) => parameters.find((it) => it.startsWith(`${key}=`))?.slice(key.length + 1);
  const isOurs = /^4\.0(\.1)?$/.test(parameter('fhirversion') ?? '4.0');
  return { name, isOurs, weight: Number(parameter('q') ?? 1) || 0 };
}

/** `json` and `xml` are values of `_format`. A `+` in a URL arrives as a space. */
const types = {
  json: [/^(json|text\/json|application\/(fhir[+ ]json|json([+ ]fhir)?))$/, /^(\*|application)\/\*$/],
  xml: [/^(xml|text\/xml|application\/(fhir[+ ]xml|xml([+ ]fhir)?))$/, /^(\*|application|text)\/\*$/],
} as const;

/** How much the client likes each format (RFC 9110, section 12.5.1). What names the type says more than a wildcard. */
function weightsOf(request: FastifyRequest): Readonly<Record<keyof typeof types, number>> {
  const ranges = askedFor(request).split(',').map(readType);
  const matching = (patterns: readonly RegExp[]) =>
    patterns.map((type) => ranges.filter(({ name, isOurs }) => isOurs && type.test(name))).find((it) => it.length > 0);
  const weightOf = (patterns: readonly RegExp[]) => Math.max(0, ...(matching(patterns) ?? []).map((it) => it.weight));
  return { json: weightOf(types.json), xml: weightOf(types.xml) };
}

function askedFor({ headers, query }: FastifyRequest): string {
  // Of a URL that could not be read, there is no query.
  const format = (query as Readonly<Record<string, unknown>> | null)?._format;
  return typeof format === 'string' ? format : (headers.accept ?? '*/*');
}

/** @throws Problem `not_acceptable` */
export function assertFormat(request: FastifyRequest): void {
  if (Object.values(weightsOf(request)).some((it) => it > 0)) return;
  const detail = 'The media types are application/fhir+json and application/fhir+xml; fhirVersion=4.0.';
  throw new Problem('not_acceptable', { detail });
}

/** Sends a resource in the format that the client likes best. One that likes both alike gets JSON. */
export async function sendInFormat(resource: object, reply: FastifyReply): Promise<FastifyReply> {
  const { json, xml } = weightsOf(reply.request);
  const isXml = xml > json || (json === 0 && askedFor(reply.request).includes('xml'));
  const text = isXml ? await toXml(resource) : JSON.stringify(resource);
  return reply.type(`application/fhir+${isXml ? 'xml' : 'json'}; charset=utf-8`).send(text);
}

/**
 * The media type of the body, without parameters.
 *
 * @throws Problem `media_type_unsupported`
 */
export function assertMediaType({ headers }: FastifyRequest, consumes: readonly string[]): void {
  const { name, isOurs } = readType(headers['content-type'] ?? '');
  const isBare = name === '' && Number(headers['content-length'] ?? 0) === 0;
  if ((isBare || consumes.includes(name)) && isOurs) return;
  const detail = `The content type must be ${consumes.join(' or ')}.`;
  throw problemAt({ in: 'header', header: 'content-type' }, 'media_type_unsupported', detail);
}

export function etagOf(versionId: string | undefined): string {
  return `W/"${versionId}"`;
}
