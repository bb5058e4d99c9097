import type { FastifyRequest } from 'fastify';
import { Problem, problemAt } from '../problems/problem.ts';

/** A preference in `Prefer`: https://hl7.org/fhir/R4/http.html#ops */
export function preferenceOf(
  { headers }: Pick<FastifyRequest, 'headers'>,
  name: 'return' | 'handling',
): string | undefined {
  const parts = [headers.prefer ?? []].flat().flatMap((it) => it.split(/[,;]/));
  const found = parts.map((it) => it.trim().split('=')).find(([key]) => key?.trim().toLowerCase() === name);
  return found?.[1]?.trim().replaceAll('"', '');
}

const versions = ['4.0', '4.0.1'];

/**
 * The format of the response. A client that accepts both gets JSON.
 *
 * @throws Problem `not_acceptable`
 */
export function formatOf({ headers, query }: Pick<FastifyRequest, 'headers' | 'query'>): 'json' | 'xml' {
  const format = (query as Readonly<Record<string, unknown>>)._format;
  const accepted = (typeof format === 'string' ? format : (headers.accept ?? '*/*')).split(',');
  const found = (['json', 'xml'] as const).find((it) => accepted.some((range) => isOf(types[it], range)));
  if (found) return found;
  const detail = 'The media types are application/fhir+json and application/fhir+xml; fhirVersion=4.0.';
  throw new Problem('not_acceptable', { detail });
}

/** `json` and `xml` are values of `_format`. A `+` in a URL arrives as a space. */
const types = {
  json: /^(json|text\/json|application\/(fhir[+ ]json|json([+ ]fhir)?|\*)|\*\/\*)$/,
  xml: /^(xml|text\/(xml|\*)|application\/(fhir[+ ]xml|xml([+ ]fhir)?))$/,
};

function isOf(type: RegExp, range: string): boolean {
  const [name = '', ...parameters] = range.split(';').map((it) => it.trim().toLowerCase());
  const version = parameters.find((it) => it.startsWith('fhirversion='))?.slice('fhirversion='.length);
  return type.test(name) && (version === undefined || versions.includes(version));
}

/**
 * The media type of the body, without parameters. A client can name the version of FHIR.
 *
 * @throws Problem `media_type_unsupported`
 */
export function assertMediaType({ headers }: FastifyRequest, consumes: readonly string[]): void {
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((it) => it.trim().toLowerCase());
  const version = parameters.find((it) => it.startsWith('fhirversion='))?.slice('fhirversion='.length);
  const isBare = type === '' && Number(headers['content-length'] ?? 0) === 0;
  if ((isBare || consumes.includes(type)) && (version === undefined || versions.includes(version))) return;
  const detail = `The content type must be ${consumes.join(' or ')}.`;
  throw problemAt({ in: 'header', header: 'content-type' }, 'media_type_unsupported', detail);
}

/**
 * Whether `If-Match` or `If-None-Match` names a version: `*`, or a list of `W/"v"`, `"v"` and, as some clients send it, `v`. RFC
 * 9110, section 13.1.1, where FHIR compares weakly: https://hl7.org/fhir/R4/http.html#concurrency
 */
export function namesVersion(header: string | undefined, versionId: string | undefined): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  const tags = header.matchAll(/(?:W\/)?"([^"]*)"|([^\s,"]+)/gi);
  return [...tags].some(([, quoted, bare]) => (quoted ?? bare) === versionId);
}

export function etagOf(versionId: string | undefined): string {
  return `W/"${versionId}"`;
}
