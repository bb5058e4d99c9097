/** Stored with every operation of this kind. */
export const appointmentKindName = 'appointments';
