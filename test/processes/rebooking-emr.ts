/** The id of an EHR that cannot move appointments, in the configuration of gateways that are killed. */
export const rebookingEmr = 'rebooks';
