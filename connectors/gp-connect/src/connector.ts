import type { StatelessConnectorModule } from '@crossward/connector-kit';
import { type GpConnectSettings, gpConnectSettings } from './settings.ts';

/** GP Connect Appointment Management 1.2.7: https://developer.nhs.uk/apis/gpconnect-1-2-7/appointments.html */
export const gpConnectConnector: StatelessConnectorModule<GpConnectSettings> = {
  name: 'gp-connect',
  title: 'GP practice, by GP Connect (England)',
  settingsSchema: gpConnectSettings,
  open: async (context) => (await import('./open.ts')).open(context),
  probe: async (context) => (await import('./probe.ts')).probeGpConnect(context),
  describe: async (context) => (await import('./probe.ts')).describeGpConnect(context),
};
