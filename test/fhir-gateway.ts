import { fhirR4Connector } from '@crossward/connector-fhir-r4';
import { startMedplum } from '../connectors/fhir-r4/counterparts/medplum.ts';
import { healthcareServices, timeZone } from '../connectors/fhir-r4/fake/data-set.ts';
import type { RunningServer } from '../connectors/fhir-r4/fake/http-server.ts';
import { startFake } from '../connectors/fhir-r4/fake/server.ts';
import type { FhirAppointment, FhirSettings } from '../connectors/fhir-r4/src/testing.ts';
import { freeSlots, type Slot } from './bookings.ts';
import { eventually } from './codes.ts';
import { type Gateway, startGateway } from './gateway.ts';
