import type { Fhir } from 'fhir';
import { bodyLimits } from '../api/body-limits.ts';
import { isEchoable } from '../api/json-pointer.ts';
import { invalid } from './from-fhir/faults.ts';

/*
 * The XML format: https://hl7.org/fhir/R4/xml.html. A converter at the edge: everything else knows JSON alone. Its definitions take
 * megabytes, so they are loaded with the first request that needs them.
 */

export const xmlMediaTypes = ['application/fhir+xml', 'application/xml', 'text/xml'];

/** A body is short: reading it takes the processor for up to tenths of a second. */
export const xmlReading = { parseAs: 'buffer', bodyLimit: 128 * 1024 } as const;

/** A root in the namespace of FHIR, which the converter does not look at. Comments and white space can come before it. */
const rootOfFhir =
  /^\uFEFF?(?:<\?xml[^>]*>)?(?:\s|<!--(?:(?!-->)[\s\S])*-->)*<[A-Z][A-Za-z]*(?:\s[^<>]*)?\sxmlns=(["'])http:\/\/hl7\.org\/fhir\1/;

let loading: Promise<Fhir> | undefined;

function converter(): Promise<Fhir> {
  loading ??= import('fhir').then(({ default: { Fhir } }) => new Fhir());
  return loading;
}

/** Characters that XML 1.0 does not allow. Texts of EHRs may contain them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const notInXml = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

/** A resource in XML. U+FFFD replaces characters that XML does not allow. */
export async function toXml(resource: object): Promise<string> {
  const json = JSON.stringify(resource, (_, value) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll(notInXml, '\uFFFD') : value,
  );
  return (await converter()).jsonToXml(json);
}

/**
 * The JSON of a resource in XML.
 *
 * @throws Problem `request_invalid`. Nothing of the text is repeated
 */
export async function jsonFromXml(bytes: Buffer): Promise<Buffer> {
  const text = bytes.toString('utf8');
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) throw unreadable('The body has a document type. FHIR has none.');
  if (!rootOfFhir.test(text)) throw unreadable(`The root must have xmlns="http://hl7.org/fhir", and no prefix.`);
  const fhir = await converter();
  let json: string;
  let again: string;
  try {
    // The converter keeps comments of XML, for which JSON has no place.
    json = JSON.stringify(fhir.xmlToObj(text), (name, value) => (name === 'fhir_comments' ? undefined : value));
    again = fhir.jsonToXml(json);
  } catch {
    throw unreadable('The body is not the XML of a FHIR resource.');
  }
  // The converter leaves out what it does not know.
  const kept = Map.groupBy(pathsIn(again), (path) => path);
  for (const path of pathsIn(text)) {
    if (kept.get(path)?.pop() !== undefined) continue;
    throw unreadable('FHIR R4 does not have this element here, or it is empty or repeated.', path.replace(/\/$/, ''));
  }
  return Buffer.from(json);
}

const tags = /<(\/?)([A-Za-z_][^\s/>]*)(?:"[^"]*"|'[^']*'|[^>"'])*>/g;

/** Where each element is, such as `/participant/actor`, in well-formed XML. */
function* pathsIn(text: string): Generator<string> {
  const around: string[] = [];
  for (const [tag, isEnd, name = ''] of text.replaceAll(/<!--[\s\S]*?-->/g, '').matchAll(tags)) {
    if (isEnd) around.pop();
    else {
      if (around.length > bodyLimits.depth)
        throw unreadable(`The body is nested more than ${bodyLimits.depth} levels deep.`);
      around.push(isEchoable(name) ? name : '');
      yield `/${around.slice(1).join('/')}`;
      if (tag.endsWith('/>')) around.pop();
    }
  }
}

function unreadable(detail: string, pointer = '') {
  return invalid(pointer, detail, 'structure');
}
