// The yardstick: bare Fastify routes with the schemas of the gateway's responses, and the fewest statements.
import Fastify from 'fastify';
import { readOptions, report } from '../parent.ts';
import { addAppointmentRoutes } from './appointments.ts';
import { addForwardRoutes } from './forward.ts';
import { openDatabase } from './statements.ts';
import { addTimeSlotRoute } from './time-slots.ts';

export interface YardstickOptions {
  readonly databaseUrl?: string;
  /** Base URL of the FHIR server to which it forwards. */
  readonly forwardTo?: string;
}

const { databaseUrl, forwardTo } = readOptions<YardstickOptions>();
const app = Fastify();
if (databaseUrl !== undefined) {
  const { run, close } = await openDatabase(databaseUrl);
  app.addHook('onClose', close);
  addAppointmentRoutes(app, run);
  addTimeSlotRoute(app, run);
}
if (forwardTo !== undefined) addForwardRoutes(app, forwardTo);
report(await app.listen({ host: '127.0.0.1', port: 0 }), () => app.close());
