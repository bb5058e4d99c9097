import { parse } from 'node:querystring';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addEndpoint } from '../../api/add-endpoint.ts';
import { handOver } from '../../fhir-face/all-units/hand-over.ts';
import { allUnitsSearches, handedOverEndpoints } from '../../fhir-face/all-units/routes.ts';
import { formMediaType } from '../../fhir-face/interaction.ts';
import { assertFormat, assertMediaType } from '../../fhir-face/preferences.ts';
import { faceEndpoints } from '../../fhir-face/routes.ts';
import { readSmartConfiguration } from '../../fhir-face/smart-configuration.ts';
import { jsonFromXml, xmlMediaTypes, xmlReading } from '../../fhir-face/xml.ts';
import type { Problem } from '../../problems/problem.ts';
import { parseJson } from '../body/json-body.ts';

const jsonTypes = ['application/fhir+json', 'application/json', 'application/json-patch+json'];
const formLimit = 64 * 1024;

/** `/api/emrs/{emr}/care-units/{care_unit_id}/fhir-r4`, and `/api/fhir-r4` over all care units: see the folder `fhir-face`. Its media types are read nowhere else. */
export async function addFhirFaceRoutes(app: FastifyInstance): Promise<void> {
  addEndpoint(app, readSmartConfiguration);
  addEndpoint(app, { ...readSmartConfiguration, level: 'client' });
  await app.register(async (face) => {
    face.removeAllContentTypeParsers();
    face.addContentTypeParser(jsonTypes, { parseAs: 'buffer' }, (_request, body, done) => {
      try {
        done(null, parseJson(body as Buffer));
      } catch (error) {
        done(error as Problem);
      }
    });
    face.addContentTypeParser(xmlMediaTypes, xmlReading, async (_request: FastifyRequest, body: Buffer) =>
      parseJson(await jsonFromXml(body)),
    );
    face.addContentTypeParser(formMediaType, { parseAs: 'string', bodyLimit: formLimit }, (_request, body, done) =>
      // All of them: a search without some of its parameters finds more.
      done(null, { ...parse(String(body), undefined, undefined, { maxKeys: 0 }) }),
    );
    face.addHook('onRequest', (request, _reply, done) => {
      const { representation } = request.routeOptions.config.endpoint ?? {};
      if (representation) {
        assertFormat(request);
        const { consumes } = representation;
        const isResource = consumes?.includes('application/fhir+json');
        if (consumes) assertMediaType(request, isResource ? [...consumes, ...xmlMediaTypes] : consumes);
      }
      done();
    });
    for (const endpoint of [...faceEndpoints, ...allUnitsSearches]) addEndpoint(face, endpoint);
    await face.register(async (handed) => {
      handed.addHook('preHandler', handOver);
      for (const endpoint of handedOverEndpoints) addEndpoint(handed, endpoint);
    });
  });
}
