import {
  DOMImplementation,
  DOMParser,
  type Document,
  type Element,
  MIME_TYPE,
  type Node,
  XMLSerializer,
} from '@xmldom/xmldom';
import { ConnectorError } from '../errors.ts';

/** An element that was read. Attributes are left out. */
export interface XmlElement {
  readonly namespace: string;
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** All text inside, without white space at the ends. */
  readonly text: string;
}

/** An element to write. */
export interface NewElement {
  readonly namespace: string;
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly content: string | readonly NewElement[];
}

/** Far more than any message has. */
const deepest = 64;

/**
 * Reads an XML document without a document type. So there are no entities other than the five of XML itself: none that
 * names a file (XXE), and none that grows (billion laughs).
 *
 * @throws ConnectorError `rejected` for anything else. The parser's own message is left out, because it quotes the text.
 */
export function readXml(text: string): XmlElement {
  // The prolog ends where the first element begins. The parser would read a document type before it reports it.
  const prolog = text.slice(0, text.search(/<[^?!]/) >>> 0);
  if (/<!DOCTYPE/i.test(prolog)) throw notXml('an XML document with a document type');
  const document = parsed(text);
  if (document?.doctype) throw notXml('an XML document with a document type');
  if (!document?.documentElement) throw notXml('something other than XML');
  return read(document.documentElement, 1);
}

function parsed(text: string): Document | undefined {
  const fail = () => {
    throw notXml('malformed XML');
  };
  try {
    return new DOMParser({ onError: fail }).parseFromString(text, MIME_TYPE.XML_TEXT);
  } catch {
    return undefined;
  }
}

function read(element: Element, depth: number): XmlElement {
  if (depth > deepest) throw notXml('XML that is nested too deeply');
  const children: XmlElement[] = [];
  let text = '';
  for (let node: Node | null = element.firstChild; node; node = node.nextSibling) {
    if (node.nodeType === node.ELEMENT_NODE) children.push(read(node as Element, depth + 1));
    if (node.nodeType === node.TEXT_NODE || node.nodeType === node.CDATA_SECTION_NODE) text += node.nodeValue ?? '';
  }
  return {
    namespace: element.namespaceURI ?? '',
    name: element.localName ?? element.nodeName,
    children,
    text: text.trim(),
  };
}

function notXml(what: string): ConnectorError {
  return new ConnectorError('rejected', `The EHR responded with ${what}`, { fault: true });
}

/** The children with this name, in the document's order. Prefixes do not matter. */
export function childrenOf(parent: XmlElement, namespace: string, name: string): readonly XmlElement[] {
  return parent.children.filter((it) => it.namespace === namespace && it.name === name);
}

/** The first child with this name. */
export function childOf(parent: XmlElement, namespace: string, name: string): XmlElement | undefined {
  return childrenOf(parent, namespace, name)[0];
}

/** The text of the first child with this name. `undefined`: there is none, or it is empty. */
export function textOf(parent: XmlElement, namespace: string, name: string): string | undefined {
  return childOf(parent, namespace, name)?.text || undefined;
}

/** Texts by the names of their elements, in the order of the schema. */
export type Leaves = Readonly<Record<string, string | readonly string[] | null | undefined>>;

/** Elements that an XML sequence can have, one for each value. Empty ones are left out. */
export function leaves(namespace: string, values: Leaves): readonly NewElement[] {
  return Object.entries(values).flatMap(([name, value]) =>
    [value].flat().flatMap((text) => {
      const content = withoutForbidden(text ?? '');
      return content === '' ? [] : [{ namespace, name, content }];
    }),
  );
}

/** A text as whoever reads the document gets it. `null`: nothing is left of it. */
export function asXmlText(text: string | null): string | null {
  // https://www.w3.org/TR/xml/#sec-line-ends
  return (
    withoutForbidden(text ?? '')
      .replaceAll(/\r\n?/g, '\n')
      .trim() || null
  );
}

/** Without the characters that XML 1.0 cannot carry, not even as references: https://www.w3.org/TR/xml/#charsets */
function withoutForbidden(text: string): string {
  return text.toWellFormed().replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '');
}

/** The document with its XML declaration. */
export function writeXml(root: NewElement): string {
  const document = new DOMImplementation().createDocument(root.namespace, root.name, null);
  if (document.documentElement) fill(document, document.documentElement, root);
  // A parser would read it as a line feed: https://www.w3.org/TR/xml/#sec-line-ends
  const text = new XMLSerializer().serializeToString(document).replaceAll('\r', '&#13;');
  return `<?xml version="1.0" encoding="UTF-8"?>${text}`;
}

function fill(document: Document, element: Element, { attributes = {}, content }: NewElement): void {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (typeof content === 'string') {
    element.appendChild(document.createTextNode(withoutForbidden(content)));
    return;
  }
  for (const child of content) {
    const made = document.createElementNS(child.namespace || null, child.name);
    // The serialiser lets an element without a namespace inherit that of its parent.
    if (child.namespace === '' && element.namespaceURI) made.setAttribute('xmlns', '');
    element.appendChild(made);
    fill(document, made, child);
  }
}
