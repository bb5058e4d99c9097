import type { StatelessConnectorModule } from '@crossward/connector-kit';
import { type GnuHealthSettings, gnuHealthSettings } from './settings.ts';

/** GNU Health 5 on Tryton 7.0: https://www.gnuhealth.org */
export const gnuHealthConnector: StatelessConnectorModule<GnuHealthSettings> = {
  name: 'gnuhealth',
  title: 'GNU Health 5',
  settingsSchema: gnuHealthSettings,
  open: async (context) => (await import('./open.ts')).open(context),
  probe: async (context) => (await import('./probe.ts')).probe(context),
  describe: async (context) => (await import('./probe.ts')).describe(context),
  places: async (context) => (await import('./probe.ts')).places(context),
  directChanges: async (context) => (await import('./direct-changes.ts')).gnuHealthDirectChanges(context),
};
