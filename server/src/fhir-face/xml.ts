import type { Fhir } from 'fhir';
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

/** @param json a resource */
export async function toXml(json: string): Promise<string> {
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
  if (elementsIn(again) !== elementsIn(text)) {
    throw unreadable('The body has an element that FHIR R4 does not have there.');
  }
  return Buffer.from(json);
}

function elementsIn(text: string): number {
  return text.replaceAll(/<!--[\s\S]*?-->/g, '').match(/<[A-Za-z_]/g)?.length ?? 0;
}

function unreadable(detail: string) {
  return invalid('', detail, 'structure');
}
