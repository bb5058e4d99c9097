import type { StatelessConnectorModule } from '@crossward/connector-kit';
import { type RivtaSettings, rivtaSettings } from './settings.ts';

/** A producer of the Swedish service contracts `crm:scheduling` 1.1, RIVTABP21. */
export const rivtaSchedulingConnector: StatelessConnectorModule<RivtaSettings> = {
  name: 'rivta-scheduling',
  title: 'Producer of crm:scheduling 1.1, as behind 1177 (Sweden)',
  settingsSchema: rivtaSettings,
  open: async (context) => (await import('./open.ts')).open(context),
  probe: async (context) => (await import('./probe.ts')).probeProducer(context),
};
