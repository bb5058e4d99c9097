import { randomUUID } from 'node:crypto';
import type { ConfiguredCareUnit, DocumentWrite } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import { describe, expect, test, vi } from 'vitest';
import type { FakeOptions, FakeServer, Fault } from '../fake/server.ts';
import type { FhirDocumentReference, FhirResource } from '../src/fhir.ts';
import { bytesOf } from '../src/notes-and-documents/attachment.ts';
import type { FhirSettings } from '../src/settings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor, south } from './subject.ts';

const pdf = Buffer.from('%PDF-1.7\n\xff\x00', 'latin1');
const clinicalNote = {
  system: 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category',
  code: 'clinical-note',
};

async function start(options: FakeOptions = {}, settings: Partial<FhirSettings> = {}) {
  const server = await startFake({ data: { days: 3 }, ...options });
  const connector = await openConnector(settingsFor(server.url, settings), plainHttp());
  const { listDocuments, findDocument, readDocument, createDocument, findDocumentWrite, withdrawDocument } = connector;
  if (!listDocuments || !findDocument || !readDocument || !createDocument || !findDocumentWrite || !withdrawDocument) {
    throw new Error('The connector has no documents');
  }
  return {
    server,
    /** Stores a document as the EHR's staff would. Returns its id. */
    save: (fields: Partial<FhirDocumentReference> = {}) => {
      const document = {
        resourceType: 'DocumentReference',
        status: 'current',
        subject: { reference: 'Patient/p-1' },
        date: '2026-03-20T09:00:00Z',
        content: [{ attachment: { contentType: 'application/pdf', data: pdf.toString('base64') } }],
        context: { related: [{ reference: 'Location/north' }] },
        ...fields,
      };
      return server.store.save(document as FhirResource).id ?? '';
    },
    references: () => server.store.all('DocumentReference') as unknown as FhirDocumentReference[],
    binaries: () => server.store.all('Binary').map(({ id }) => `Binary/${id}`),
    list: () => listDocuments({ careUnit: north, patientId: 'p-1', limit: 100 }),
    find: (id: string, careUnit: ConfiguredCareUnit = north) => findDocument(careUnit, 'p-1', id),
    async read(id: string) {
      const content = await readDocument(north, 'p-1', id);
      if (!content) return null;
      const chunks: Uint8Array[] = [];
      for await (const chunk of content.chunks) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    write: (fields: Partial<DocumentWrite> = {}) =>
      createDocument({
        operationId: randomUUID(),
        careUnit: north,
        patientId: 'p-1',
        authorId: null,
        title: null,
        contentType: 'application/pdf',
        size: pdf.length,
        async *content() {
          yield pdf;
        },
        ...fields,
      }),
    findWrite: (operationId: string) => findDocumentWrite(north, operationId),
    withdraw: (operationId: string) => withdrawDocument(north, operationId),
  };
}

const linkTo = (url: string) => ({ content: [{ attachment: { contentType: 'application/pdf', url } }] });

/** As from a database that serializes its transactions. */
const conflict = { status: 409, body: { resourceType: 'OperationOutcome', issue: [{ code: 'conflict' }] } };

/** The first POST to the path gets the fault. */
function failFirst(wanted: '/Binary' | '/DocumentReference', fault: Fault) {
  let creates = 0;
  return ({ method, path }: { method: string; path: string }): Fault | undefined =>
    method === 'POST' && path === wanted && ++creates === 1 ? fault : undefined;
}

/** Holds back the first DocumentReference until `resolve` is called. `isDelayed` resolves when it has arrived. */
function delayFirstReference(server: FakeServer): { isDelayed: Promise<void>; resolve: () => void } {
  const { promise: heldBackUntil, resolve } = Promise.withResolvers<void>();
  const { promise: isDelayed, resolve: delays } = Promise.withResolvers<void>();
  const delay = failFirst('/DocumentReference', { heldBackUntil });
  server.misbehave = (request) => {
    const fault = delay(request);
    if (fault) delays();
    return fault;
  };
  return { isDelayed, resolve };
}

describe('a document in the EHR', () => {
  test('is a DocumentReference with its content in a Binary', async () => {
    const { write, references, binaries, server } = await start();
    const operationId = randomUUID();
    await write({ operationId, authorId: 'r-1', title: 'Referral' });
    const [binary] = binaries();
    expect(server.store.get(binary ?? '')).toMatchObject({
      contentType: 'application/pdf',
      data: pdf.toString('base64'),
    });
    expect(references()).toEqual([
      {
        resourceType: 'DocumentReference',
        id: expect.any(String),
        meta: expect.anything(),
        extension: [
          { url: 'urn:crossward:binary', valueString: binary },
          { url: 'urn:crossward:content-hash', valueString: expect.any(String) },
        ],
        identifier: [{ system: 'urn:crossward:operation', value: operationId }],
        status: 'current',
        docStatus: 'final',
        type: { coding: [{ system: 'http://loinc.org', code: '34133-9', display: 'Summary of episode note' }] },
        subject: { reference: 'Patient/p-1' },
        date: expect.any(String),
        author: [{ reference: 'Practitioner/r-1' }],
        description: 'Referral',
        content: [
          {
            attachment: {
              contentType: 'application/pdf',
              url: binary,
              size: pdf.length,
              title: 'Referral',
              creation: expect.any(String),
            },
          },
        ],
        context: { related: [{ reference: 'Location/north' }] },
      },
    ]);
  });

  test('has the category, type and author of the settings', async () => {
    const coding = { system: 'urn:codes', code: 'letter' };
    const { write, references } = await start(
      {},
      { documents: { category: coding, type: coding, author: 'practitioner_role' } },
    );
    await write({ authorId: 'r-2' });
    expect(references()).toMatchObject([
      {
        category: [{ coding: [coding] }],
        type: { coding: [coding] },
        author: [{ reference: expect.stringMatching(/^PractitionerRole\//) }],
      },
    ]);
  });

  test('must not have the category of notes', async () => {
    await expect(start({}, { documents: { category: clinicalNote } })).rejects.toMatchObject({ kind: 'rejected' });
  });
});

describe('a document of the staff', () => {
  test('is shown with its facts', async () => {
    const { save, find, read } = await start();
    const id = save({ description: 'Letter', author: [{ reference: 'Practitioner/r-2' }] });
    expect(await find(id)).toEqual({
      id,
      patientId: 'p-1',
      createdAt: new Date('2026-03-20T09:00:00Z'),
      authorId: 'r-2',
      title: 'Letter',
      contentType: 'application/pdf',
      size: pdf.length,
    });
    expect(await read(id)).toEqual(pdf);
  });

  test.each([
    ['entered in error', { status: 'entered-in-error' }],
    ['entered in error as a composition', { docStatus: 'entered-in-error' }],
    ['superseded', { status: 'superseded' }],
    ['of another patient', { subject: { reference: 'Patient/p-3' } }],
    ['of another care unit', { context: { related: [{ reference: 'Location/south' }] } }],
    ['without an attachment', { content: [] }],
    ['with two attachments', { content: [...linkTo('Binary/1').content, ...linkTo('Binary/2').content] }],
    [
      'a medical note',
      {
        category: [{ coding: [clinicalNote] }],
        content: [{ attachment: { contentType: 'text/plain', data: 'eA==' } }],
      },
    ],
  ])('is hidden if it is %s', async (_, fields) => {
    const { save, find, read, list } = await start();
    const id = save(fields);
    expect(await find(id)).toBeNull();
    expect(await read(id)).toBeNull();
    expect(await list()).toEqual([]);
  });

  test('is shown if it has the category of notes and no text', async () => {
    const { save, find } = await start();
    expect(await find(save({ category: [{ coding: [clinicalNote] }] }))).toMatchObject({
      contentType: 'application/pdf',
    });
  });

  test('without a care unit is shown everywhere if the settings say so', async () => {
    const { save, find } = await start({}, { documents: { care_unit: 'any' } });
    const id = save({ context: {} });
    for (const careUnit of [north, south]) expect(await find(id, careUnit)).toMatchObject({ id });
  });
});

describe('the content', () => {
  test('of another server is not read', async () => {
    const other = await startFake({ data: { days: 3 } });
    const data = pdf.toString('base64');
    other.store.save({ resourceType: 'Binary', id: 'b', contentType: 'application/pdf', data } as FhirResource);
    const { server, save, find, read } = await start();
    const before = server.seen.length;
    for (const url of [`${other.url}/Binary/b`, `//${new URL(other.url).host}/Binary/b`, '../Binary/b', 'Binary/..']) {
      const id = save(linkTo(url));
      expect(await find(id)).toMatchObject({ id });
      expect(await read(id)).toBeNull();
    }
    expect(other.seen).toEqual([]);
    expect(server.seen.slice(before).filter(({ path }) => path.includes('Binary'))).toEqual([]);
  });

  test('is read by its content type, from a relative or an absolute URL', async () => {
    const { server, save, read } = await start();
    const binary = { resourceType: 'Binary', id: 'b', contentType: 'application/pdf', data: pdf.toString('base64') };
    server.store.save(binary as FhirResource);
    for (const url of ['Binary/b', `${server.url}/Binary/b`, 'Binary/b/_history/1']) {
      expect(await read(save(linkTo(url)))).toEqual(pdf);
      expect(server.seen.at(-1)).toMatchObject({ path: '/Binary/b', headers: { accept: 'application/pdf' } });
    }
    expect(await read(save(linkTo('Binary/gone')))).toBeNull();
  });

  test('may come as a resource in JSON', async () => {
    const { write, read } = await start({ jsonBinaries: true });
    expect(await read((await write()).id)).toEqual(pdf);
  });

  test('is read where the server has replaced the URL by one of its storage', async () => {
    const { server, write, read, references, binaries, withdraw } = await start();
    const operationId = randomUUID();
    const { id } = await write({ operationId });
    const [document] = references();
    const replaced = (url: string) => {
      const content = [{ attachment: { ...document?.content?.[0]?.attachment, url } }];
      server.store.save({ ...document, content } as FhirResource);
    };
    replaced('https://storage.example/binary/another/1?Signature=x');
    expect(await read(id)).toBeNull();
    expect(await withdraw(operationId)).toBe('changed');
    replaced(`https://storage.example/binary/${binaries()[0]?.slice('Binary/'.length)}/1?Signature=x`);
    expect(await read(id)).toEqual(pdf);
    expect(await withdraw(operationId)).toBe('withdrawn');
  });

  test('is read where the server signs URLs of its own storage, as Medplum does', async () => {
    const { write, read, withdraw } = await start({ signedUrls: true });
    const operationId = randomUUID();
    const { id } = await write({ operationId });
    expect(await read(id)).toEqual(pdf);
    expect(await write({ operationId })).toMatchObject({ id });
    expect(await read(id)).toEqual(pdf);
    expect(await withdraw(operationId)).toBe('withdrawn');
  });

  test('of the EHR itself is read by the id in a signed URL, if the settings name the storage', async () => {
    const server = await startFake({ signedUrls: true, data: { days: 3 } });
    const binary = { resourceType: 'Binary', contentType: 'application/pdf', data: pdf.toString('base64') };
    const { id } = server.store.save(binary as FhirResource);
    const document = {
      resourceType: 'DocumentReference',
      status: 'current',
      subject: { reference: 'Patient/p-1' },
      context: { related: [{ reference: 'Location/north' }] },
      ...linkTo(`Binary/${id}`),
    };
    const saved = server.store.save(document as FhirResource);
    const readWith = async (settings: Partial<FhirSettings>) => {
      const { readDocument } = await openConnector(settingsFor(server.url, settings), plainHttp());
      const content = await readDocument?.(north, 'p-1', saved.id ?? '');
      return content && bytesOf(content.chunks, 1000);
    };
    expect(await readWith({})).toBeNull();
    expect(await readWith({ binary_storage_url: `${server.url}/storage/` })).toEqual(pdf);
    expect(await readWith({ binary_storage_url: 'https://storage.example/' })).toBeNull();
  });
});

describe('a create', () => {
  test.each(['cut_before', 'cut_after'] as const)('cut off at the content (%s) changes no record', async (fault) => {
    const { server, write, references, binaries } = await start();
    server.misbehave = failFirst('/Binary', fault);
    const operationId = randomUUID();
    await expect(write({ operationId })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(references()).toEqual([]);
    const { id } = await write({ operationId });
    expect(references().map((it) => it.id)).toEqual([id]);
    expect(binaries()).toHaveLength(fault === 'cut_after' ? 2 : 1);
  });

  test('that gets no response for the document is found by its operation id, once', async () => {
    const { server, write, references, binaries, read } = await start();
    server.misbehave = failFirst('/DocumentReference', 'cut_after');
    const { id } = await write();
    expect(references()).toHaveLength(1);
    expect(binaries()).toHaveLength(1);
    expect(await read(id)).toEqual(pdf);
  });

  test('whose document was never received is unknown, and says so to the gateway', async () => {
    const { server, write, references, findWrite } = await start();
    server.misbehave = failFirst('/DocumentReference', 'cut_before');
    let noResponses = 0;
    const operationId = randomUUID();
    const onNoResponse = () => {
      noResponses += 1;
    };
    await expect(write({ operationId, onNoResponse })).rejects.toMatchObject({ kind: 'outcome_unknown' });
    expect(noResponses).toBe(1);
    expect(await findWrite(operationId)).toBeNull();
    await write({ operationId });
    expect(references()).toHaveLength(1);
  });

  test.each([{}, ...Array.from({ length: 8 }, () => ({ wholeSeconds: true }))])(
    'that the server does late leaves the document that the caller knows, with its content (%o)',
    async (options) => {
      const { server, write, references, findWrite, read } = await start({ heedsIfNoneExist: false, ...options });
      const operationId = randomUUID();
      const { isDelayed, resolve } = delayFirstReference(server);
      const late = write({ operationId });
      await isDelayed;
      // Of two calls in one millisecond, neither is the first.
      const called = Date.now();
      await vi.waitUntil(() => Date.now() > called, { interval: 1 });
      const kept = await write({ operationId });
      resolve();
      expect(await late).toEqual(kept);
      expect(await findWrite(operationId)).toEqual(kept);
      expect(await read(kept.id)).toEqual(pdf);
      expect(references().filter(({ status }) => status === 'current')).toMatchObject([{ id: kept.id }]);
    },
  );

  test('that finds the document of another call deletes its own content', async () => {
    const { server, write, references, binaries } = await start();
    const operationId = randomUUID();
    const { isDelayed, resolve } = delayFirstReference(server);
    const second = write({ operationId });
    await isDelayed;
    const first = await write({ operationId });
    expect(binaries()).toHaveLength(2);
    resolve();
    expect(await second).toEqual(first);
    expect(binaries()).toEqual([references()[0]?.content?.[0]?.attachment?.url]);
  });

  test('that the server rejects is rejected, and leaves no content', async () => {
    const { server, write, references, binaries } = await start();
    server.misbehave = failFirst('/DocumentReference', { status: 422 });
    await expect(write()).rejects.toMatchObject({ kind: 'rejected' });
    expect(references()).toEqual([]);
    expect(binaries()).toEqual([]);
  });

  test('that the server rejects because of others at the same time is tried again', async () => {
    const { server, write, references, binaries } = await start();
    server.misbehave = failFirst('/DocumentReference', conflict);
    const { id } = await write();
    expect(references().map((it) => it.id)).toEqual([id]);
    expect(binaries()).toHaveLength(1);
  });

  test('that the server always rejects because of others is unavailable, and leaves no content', async () => {
    const { server, write, references, binaries } = await start();
    // The pauses between attempts are random. Make them as short as possible.
    const random = vi.spyOn(Math, 'random').mockReturnValue(0);
    server.misbehave = ({ method, path }) =>
      method === 'POST' && path === '/DocumentReference' ? conflict : undefined;
    await expect(write()).rejects.toMatchObject({ kind: 'unavailable' });
    random.mockRestore();
    expect([...references(), ...binaries()]).toEqual([]);
  });

  test('sends nothing again after it was done', async () => {
    const { server, write } = await start();
    const operationId = randomUUID();
    const first = await write({ operationId });
    const before = server.seen.length;
    expect(await write({ operationId })).toEqual(first);
    expect(server.seen.slice(before).filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

describe('a withdrawal', () => {
  test('marks the document as entered in error', async () => {
    const { write, references, withdraw, find } = await start();
    const operationId = randomUUID();
    const { id } = await write({ operationId, title: 'x' });
    expect(await withdraw(operationId)).toBe('withdrawn');
    expect(references()).toMatchObject([{ status: 'entered-in-error' }]);
    expect(await find(id)).toBeNull();
  });

  test.each([
    ['its title', { description: 'New' }],
    ['its content', linkTo('Binary/other')],
    ['its author', { author: [{ reference: 'Practitioner/r-2' }] }],
  ])('leaves a document alone after staff have changed %s', async (_, change) => {
    const { server, write, references, withdraw } = await start();
    const operationId = randomUUID();
    await write({ operationId });
    server.store.save({ ...references()[0], ...change } as FhirResource);
    expect(await withdraw(operationId)).toBe('changed');
    expect(references()[0]).toMatchObject({ status: 'current', ...change });
  });
});

test('a server without Binaries has no documents', async () => {
  const server = await startFake({ documents: false, data: { days: 3 } });
  const connector = await openConnector(settingsFor(server.url));
  expect(Object.keys(connector).filter((name) => /Documents?(Write)?$/.test(name))).toEqual([]);
});
