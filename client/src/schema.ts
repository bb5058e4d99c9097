// Generated from server/openapi.json by npm run client. Do not edit.

export interface paths {
    "/api/emrs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the EHRs that the caller may use */
        get: operations["list_emrs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an EHR and its capabilities */
        get: operations["get_emr"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the care units of an EHR */
        get: operations["list_care_units"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a care unit */
        get: operations["get_care_unit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/appointments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Appointments
         * @description `patient_id`, `resource_id`, or both `start` and `end` must be there.
         */
        get: operations["list_appointments"];
        put?: never;
        /**
         * Create Appointment
         * @description A booking starts where a free time slot starts, ends where one ends, and has no gap between.
         */
        post: operations["create_appointment"];
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update, cancel or confirm many appointments
         * @description All or nothing. With `start` and `end` it is a continuous reschedule: the ids are fitted into the time slots of the range, which makes or cancels appointments where the range is longer or shorter. The ids of a confirm await the same code, which this client asked for. While any of them awaits it, every wrong code counts, whichever id it is sent to.
         */
        patch: operations["change_appointments"];
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/appointments/{appointment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get one appointment */
        get: operations["get_appointment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update, cancel or confirm one appointment
         * @description The body is exactly one of update, cancel and confirm. The appointment's own time counts as free. An update never needs a code. Only the client that started a confirmation can confirm it: to any other, nothing is pending. A second cancel while its code is awaited answers the same new id and sends nothing.
         */
        patch: operations["change_appointment"];
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/appointments/{appointment_id}/confirmation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a fresh code
         * @description For everything that awaits the same code as this id. Only for the client that started the confirmation. The old code dies, the lifetime starts anew, the attempts do not. At most three codes in all, 30 seconds apart.
         */
        post: operations["resend_confirmation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/healthcare-services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the healthcare services of a care unit */
        get: operations["list_healthcare_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/patients/{patient_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Patient Details */
        get: operations["get_patient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the resources of a care unit */
        get: operations["list_resources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/resources/{resource_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get Resource Details */
        get: operations["get_resource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/emrs/{emr}/care-units/{care_unit_id}/timeslots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List free time slots
         * @description Only slots that lie wholly inside the range and have not begun.
         */
        get: operations["list_timeslots"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An appointment of one patient with one resource. */
        Appointment: {
            care_unit_id: string;
            comment: string | null;
            confirmation: components["schemas"]["Confirmation"] | null;
            emr: string;
            /**
             * Format: date-time
             * @description With the care unit's offset.
             */
            end: string;
            healthcare_service_id: string;
            id: string;
            /** @description As `emr_id:{value}`. */
            patient_id: string;
            /** @description On an id made by a two-step cancellation: the original's id. */
            replaces_id: string | null;
            /** @description As `emr_id:{value}`. */
            resource_id: string;
            /**
             * Format: date-time
             * @description With the care unit's offset.
             */
            start: string;
            /** @enum {string} */
            status: "awaiting_confirmation" | "booked" | "cancelled";
            /** @description Where an EHR can only cancel and book anew: the former id. */
            supersedes_id: string | null;
        };
        /** @description Cancel. */
        AppointmentCancellation: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * @description Reserved for cancelling.
             * @constant
             */
            status: "cancelled";
        };
        /** @description Confirm with the code that the end user received. It belongs to the client that started the confirmation. */
        AppointmentConfirmation: {
            confirmation: {
                /**
                 * Format: text
                 * @description The code that the end user received.
                 */
                code: string;
            };
        };
        AppointmentCreation: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: local-date-time
             * @description End. Local to the care unit, YYYY-MM-DDThh:mm:ss.
             */
            end_time: string;
            /** Format: text */
            healthcare_service_id: string;
            /** @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            patient_id: string;
            /** @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            resource_id: string;
            /**
             * Format: local-date-time
             * @description Start. Local to the care unit, YYYY-MM-DDThh:mm:ss.
             */
            start_time: string;
        };
        /** @description What an appointment would be. */
        AppointmentPreview: {
            care_unit_id: string;
            /**
             * @description What would become of it.
             * @enum {string}
             */
            change: "kept" | "moved" | "updated" | "created" | "cancelled";
            comment: string | null;
            confirmation: {
                /** @description How often the person may still try. */
                attempts_remaining: number;
                /** @enum {string} */
                channel: "sms" | "email";
                /** @enum {string|null} */
                delivery: "queued" | "sent" | "failed" | null;
                /** Format: date-time */
                expires_at: string | null;
                /** @description Null: it would be made. */
                id: string | null;
                /** @enum {string} */
                kind: "booking" | "cancellation";
                /** @description A page where the person can enter the code, where there is one. */
                page_url: string | null;
            } | null;
            emr: string;
            /**
             * Format: date-time
             * @description With the care unit's offset.
             */
            end: string;
            healthcare_service_id: string;
            /** @description Null: it would be made. */
            id: string | null;
            /** @description As `emr_id:{value}`. */
            patient_id: string;
            /** @description On an id made by a two-step cancellation: the original's id. */
            replaces_id: string | null;
            /** @description As `emr_id:{value}`. */
            resource_id: string;
            /**
             * Format: date-time
             * @description With the care unit's offset.
             */
            start: string;
            /** @enum {string} */
            status: "awaiting_confirmation" | "booked" | "cancelled";
            /** @description Where an EHR can only cancel and book anew: the former id. */
            supersedes_id: string | null;
        };
        /** @description Update: only the fields to change. */
        AppointmentUpdate: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: date-time-or-local
             * @description New end; with `start`. RFC 3339; without an offset: local time.
             */
            end?: string;
            /** @description New resource. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            resource_id?: string;
            /**
             * Format: date-time-or-local
             * @description New start; with `end`. RFC 3339; without an offset: local time.
             */
            start?: string;
        };
        /** @description Cancel many. */
        BulkCancellation: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            ids: string[];
            /**
             * @description Reserved for cancelling.
             * @constant
             */
            status: "cancelled";
        };
        /** @description Confirm many that await the same code. */
        BulkConfirmation: {
            confirmation: {
                /**
                 * Format: text
                 * @description The code that the end user received.
                 */
                code: string;
            };
            ids: string[];
        };
        /** @description Without `start` and `end`: a pure bulk update. With them: a continuous reschedule. */
        BulkUpdate: {
            /**
             * Format: text
             * @description Free text, up to 2,000 characters. `""` clears it.
             */
            comment?: string;
            /**
             * Format: date-time-or-local
             * @description New end; with `start`. RFC 3339; without an offset: local time.
             */
            end?: string;
            ids: string[];
            /** @description New resource. Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
            resource_id?: string;
            /**
             * Format: date-time-or-local
             * @description New start; with `end`. RFC 3339; without an offset: local time.
             */
            start?: string;
        };
        /** @description A care unit of an EHR. */
        CareUnit: {
            id: string;
            /**
             * @description Language of the messages to patients.
             * @enum {string}
             */
            language: "nb" | "sv" | "en";
            name: string;
            /** @description IANA time zone. */
            time_zone: string;
        };
        /** @description What is known of a code, while it is awaited. */
        Confirmation: {
            /** @description How often the person may still try. */
            attempts_remaining: number;
            /** @enum {string} */
            channel: "sms" | "email";
            /**
             * @description What has become of the newest message.
             * @enum {string}
             */
            delivery: "queued" | "sent" | "failed";
            /** Format: date-time */
            expires_at: string;
            /** @description Ids with the same one are confirmed by the same code. */
            id: string;
            /** @enum {string} */
            kind: "booking" | "cancellation";
            /** @description A page where the person can enter the code, where there is one. */
            page_url: string | null;
        };
        /** @description An EHR behind the gateway. */
        Emr: {
            /**
             * @description State of the circuit breaker that leaves the EHR alone after failures in a row.
             * @enum {string}
             */
            breaker: "closed" | "half_open" | "open";
            capabilities: {
                /**
                 * @description Whether a booking waits for a code that is sent to the patient.
                 * @enum {string}
                 */
                booking_confirmation: "none" | "code";
                /**
                 * @description Whether a cancellation waits for a code that is sent to the patient.
                 * @enum {string}
                 */
                cancellation_confirmation: "none" | "code";
                /** @description What can be done in this EHR. Anything else answers `operation_unsupported`. */
                operations: ("get_patient" | "list_resources" | "get_resource" | "list_healthcare_services" | "list_timeslots" | "list_appointments" | "get_appointment" | "create_appointment" | "update_appointment" | "cancel_appointment" | "reschedule_appointments")[];
                /** @description What patients can be looked up by. */
                patient_identifier_types: ("emr_id" | "no_personal_number" | "se_personal_number" | "nhs_number")[];
                /** @description What resources can be looked up by. */
                resource_identifier_types: ("emr_id" | "se_personal_number" | "no_personal_number" | "hsa_id")[];
            };
            id: string;
            /**
             * Format: date-time
             * @description When the EHR last did what it was asked. Null: not since the gateway was started.
             */
            last_success_at: string | null;
            name: string;
            /**
             * @description Whether the EHR can be used now. `degraded`: it has failed, and the next call tries whether it is back. `unavailable`: it has not been reached since the gateway was started, or it is left alone for a while; calls answer `ehr_unavailable`.
             * @enum {string}
             */
            status: "available" | "degraded" | "unavailable";
        };
        /** @description What can be booked. */
        HealthcareService: {
            /** @description Informative: a booking has the length of its time slots. */
            duration_minutes: number | null;
            id: string;
            name: string;
        };
        /** @description A patient, as the EHR has it. */
        Patient: {
            address: {
                city: string | null;
                /** @description ISO 3166-1 alpha-2. */
                country: string | null;
                lines: string[];
                postal_code: string | null;
            } | null;
            /** Format: date */
            birth_date: string | null;
            email: string | null;
            family_name: string | null;
            /** @enum {string|null} */
            gender: "male" | "female" | "other" | "unknown" | null;
            given_name: string | null;
            /** @description Internal identifier of the EHR, without a prefix. */
            id: string;
            /** @description Every identifier known, in Patient ID notation. */
            identifiers: string[];
            /** @description E.164. */
            phone: string | null;
        };
        /** @description RFC 9457 problem details. No part of it holds personal data, a code or a secret. */
        Problem: {
            /** @description With `confirmation_code_incorrect`: how often the person may still try. */
            attempts_remaining?: number;
            /**
             * @description One to one with the status.
             * @enum {string}
             */
            code: "BAD_REQUEST" | "UNAUTHORIZED" | "FORBIDDEN" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "CONFLICT" | "CONTENT_TOO_LARGE" | "URI_TOO_LONG" | "UNSUPPORTED_MEDIA_TYPE" | "UNPROCESSABLE_CONTENT" | "TOO_MANY_REQUESTS" | "HEADERS_TOO_LARGE" | "INTERNAL_SERVER_ERROR" | "NOT_IMPLEMENTED" | "BAD_GATEWAY" | "SERVICE_UNAVAILABLE" | "GATEWAY_TIMEOUT";
            detail: string;
            /** @description Where in the request, for each fault. */
            errors: {
                detail: string;
                /** @description Request header. */
                header?: string;
                /** @description In bulk operations: the appointment at fault, where it was found. */
                id?: string;
                /** @description Path or query parameter. */
                parameter?: string;
                /** @description JSON Pointer (RFC 6901) into the body. */
                pointer?: string;
                /** @enum {string} */
                reason: "request_invalid" | "identifier_malformed" | "identifier_type_unsupported" | "header_reference_missing" | "header_reference_forbidden" | "local_time_nonexistent" | "time_range_invalid" | "cursor_invalid" | "standard_unsupported" | "time_slot_unavailable" | "appointments_not_alike" | "confirmations_differ" | "confirmation_code_incorrect" | "credentials_invalid" | "scope_missing" | "route_not_found" | "emr_not_found" | "care_unit_not_found" | "patient_not_found" | "resource_not_found" | "healthcare_service_not_found" | "appointment_not_found" | "method_not_allowed" | "appointment_cancelled" | "appointment_awaiting_confirmation" | "appointment_started" | "confirmation_expired" | "confirmation_locked" | "confirmation_not_pending" | "resend_limit_reached" | "no_contact_channel" | "idempotency_in_progress" | "content_too_large" | "uri_too_long" | "media_type_unsupported" | "headers_too_large" | "idempotency_key_reused" | "patient_limit_reached" | "rate_limited" | "internal_error" | "operation_unsupported" | "ehr_rejected" | "partially_applied" | "ehr_unavailable" | "overloaded" | "database_unavailable" | "ehr_timeout" | "outcome_unknown";
            }[];
            /** @enum {string} */
            origin: "caller" | "gateway" | "ehr";
            /**
             * @description Stable and machine-readable. The list is closed.
             * @enum {string}
             */
            reason: "request_invalid" | "identifier_malformed" | "identifier_type_unsupported" | "header_reference_missing" | "header_reference_forbidden" | "local_time_nonexistent" | "time_range_invalid" | "cursor_invalid" | "standard_unsupported" | "time_slot_unavailable" | "appointments_not_alike" | "confirmations_differ" | "confirmation_code_incorrect" | "credentials_invalid" | "scope_missing" | "route_not_found" | "emr_not_found" | "care_unit_not_found" | "patient_not_found" | "resource_not_found" | "healthcare_service_not_found" | "appointment_not_found" | "method_not_allowed" | "appointment_cancelled" | "appointment_awaiting_confirmation" | "appointment_started" | "confirmation_expired" | "confirmation_locked" | "confirmation_not_pending" | "resend_limit_reached" | "no_contact_channel" | "idempotency_in_progress" | "content_too_large" | "uri_too_long" | "media_type_unsupported" | "headers_too_large" | "idempotency_key_reused" | "patient_limit_reached" | "rate_limited" | "internal_error" | "operation_unsupported" | "ehr_rejected" | "partially_applied" | "ehr_unavailable" | "overloaded" | "database_unavailable" | "ehr_timeout" | "outcome_unknown";
            request_id: string;
            /** @description Whether the same call may succeed later. */
            retryable: boolean;
            status: number;
            title: string;
            /**
             * Format: uri-reference
             * @description A page that explains the reason.
             */
            type: string;
        };
        /** @description Whoever or whatever an appointment is with. */
        Resource: {
            /** @description What can be booked with it. */
            healthcare_service_ids: string[];
            /** @description Internal identifier of the EHR, without a prefix. */
            id: string;
            /** @description Every identifier known, in Resource ID notation. */
            identifiers: string[];
            /** @enum {string} */
            kind: "practitioner" | "room" | "device";
            name: string;
        };
        /** @description A free time: a booking starts where one starts and ends where one ends. */
        Timeslot: {
            /** Format: date-time */
            end: string;
            healthcare_service_id: string;
            resource_id: string;
            /** Format: date-time */
            start: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_emrs: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description Entries of a page, at most. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description EHRs, by id. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "emrs": [
                     *         {
                     *           "id": "sandbox-no",
                     *           "name": "Sandkasse Norge",
                     *           "status": "available",
                     *           "breaker": "closed",
                     *           "last_success_at": "2026-03-20T08:00:00Z",
                     *           "capabilities": {
                     *             "patient_identifier_types": [
                     *               "emr_id",
                     *               "no_personal_number"
                     *             ],
                     *             "resource_identifier_types": [
                     *               "emr_id"
                     *             ],
                     *             "booking_confirmation": "none",
                     *             "cancellation_confirmation": "none",
                     *             "operations": [
                     *               "get_patient",
                     *               "list_timeslots",
                     *               "create_appointment"
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        emrs: components["schemas"]["Emr"][];
                        /** @description For the next page. Null: this is the last one. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_emr: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The EHR. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "sandbox-no",
                     *       "name": "Sandkasse Norge",
                     *       "status": "available",
                     *       "breaker": "closed",
                     *       "last_success_at": "2026-03-20T08:00:00Z",
                     *       "capabilities": {
                     *         "patient_identifier_types": [
                     *           "emr_id",
                     *           "no_personal_number"
                     *         ],
                     *         "resource_identifier_types": [
                     *           "emr_id"
                     *         ],
                     *         "booking_confirmation": "none",
                     *         "cancellation_confirmation": "none",
                     *         "operations": [
                     *           "get_patient",
                     *           "list_timeslots",
                     *           "create_appointment"
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Emr"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_care_units: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description Entries of a page, at most. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Care units, by id. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "care_units": [
                     *         {
                     *           "id": "oslo-sentrum",
                     *           "name": "Oslo sentrum",
                     *           "time_zone": "Europe/Oslo",
                     *           "language": "nb"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        care_units: components["schemas"]["CareUnit"][];
                        /** @description For the next page. Null: this is the last one. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_care_unit: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The care unit. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "oslo-sentrum",
                     *       "name": "Oslo sentrum",
                     *       "time_zone": "Europe/Oslo",
                     *       "language": "nb"
                     *     }
                     */
                    "application/json": components["schemas"]["CareUnit"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_appointments: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description End of a range that the appointments overlap; with `start`. RFC 3339; without an offset: local time. */
                end?: string;
                /** @description Entries of a page, at most. */
                limit?: number;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id?: string;
                /** @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`. */
                resource_id?: string;
                /** @description Start of a range that the appointments overlap; with `end`. RFC 3339; without an offset: local time. */
                start?: string;
                /**
                 * @description May repeat. Absent: all.
                 * @example [
                 *       "booked"
                 *     ]
                 */
                status?: ("awaiting_confirmation" | "booked" | "cancelled")[];
            };
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Appointments, by start, then id. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "appointments": [
                     *         {
                     *           "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *           "status": "booked",
                     *           "start": "2027-03-19T09:00:00+01:00",
                     *           "end": "2027-03-19T09:30:00+01:00",
                     *           "comment": null,
                     *           "patient_id": "emr_id:p-3",
                     *           "resource_id": "emr_id:r-1",
                     *           "healthcare_service_id": "consultation",
                     *           "emr": "sandbox-no",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "confirmation": null,
                     *           "replaces_id": null,
                     *           "supersedes_id": null
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        appointments: components["schemas"]["Appointment"][];
                        /** @description For the next page. Null: this is the last one. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `patient_not_found`, `resource_not_found` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    create_appointment: {
        parameters: {
            query?: {
                /** @description Checks everything, changes nothing, sends nothing: 200 with what would be. */
                dry_run?: boolean;
            };
            header?: {
                /** @description The same key and request within 24 hours get the first answer again. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "patient_id": "p-3",
                 *       "resource_id": "r-1",
                 *       "healthcare_service_id": "consultation",
                 *       "start_time": "2027-03-19T09:00:00",
                 *       "end_time": "2027-03-19T09:30:00"
                 *     }
                 */
                "application/json": components["schemas"]["AppointmentCreation"];
            };
        };
        responses: {
            /** @description A dry run: what would be. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppointmentPreview"];
                };
            };
            /** @description The appointment. */
            201: {
                headers: {
                    /** @description The first answer, again. */
                    "idempotency-replayed"?: string;
                    /** @description Where the new one is. */
                    location?: string;
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "booked",
                     *       "start": "2027-03-19T09:00:00+01:00",
                     *       "end": "2027-03-19T09:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-no",
                     *       "care_unit_id": "oslo-sentrum",
                     *       "confirmation": null,
                     *       "replaces_id": null,
                     *       "supersedes_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_slot_unavailable`, `time_range_invalid`, `local_time_nonexistent`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `patient_not_found`, `resource_not_found`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout`, `outcome_unknown` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_appointments: {
        parameters: {
            query?: {
                /** @description Checks everything, changes nothing, sends nothing: 200 with what would be. */
                dry_run?: boolean;
            };
            header?: {
                /** @description The same key and request within 24 hours get the first answer again. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ids": [
                 *         "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55"
                 *       ],
                 *       "resource_id": "r-2"
                 *     }
                 */
                "application/json": components["schemas"]["BulkUpdate"] | components["schemas"]["BulkCancellation"] | components["schemas"]["BulkConfirmation"];
            };
        };
        responses: {
            /** @description In the order of `ids`; a continuous reschedule: by start, then the cancelled ones by start. */
            200: {
                headers: {
                    /** @description The first answer, again. */
                    "idempotency-replayed"?: string;
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "appointments": [
                     *         {
                     *           "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *           "status": "booked",
                     *           "start": "2027-03-19T09:00:00+01:00",
                     *           "end": "2027-03-19T09:30:00+01:00",
                     *           "comment": null,
                     *           "patient_id": "emr_id:p-3",
                     *           "resource_id": "emr_id:r-2",
                     *           "healthcare_service_id": "consultation",
                     *           "emr": "sandbox-no",
                     *           "care_unit_id": "oslo-sentrum",
                     *           "confirmation": null,
                     *           "replaces_id": null,
                     *           "supersedes_id": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        appointments: components["schemas"]["AppointmentPreview"][];
                    } | {
                        appointments: components["schemas"]["Appointment"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `confirmation_code_incorrect`, `time_slot_unavailable`, `time_range_invalid`, `local_time_nonexistent`, `appointments_not_alike`, `confirmations_differ`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `appointment_not_found`, `resource_not_found`, `patient_not_found` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `appointment_cancelled`, `appointment_awaiting_confirmation`, `appointment_started`, `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `partially_applied`, `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout`, `outcome_unknown` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_appointment: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Appointment identifier.
                 * @example 7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55
                 */
                appointment_id: string;
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The appointment. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "booked",
                     *       "start": "2027-03-19T09:00:00+01:00",
                     *       "end": "2027-03-19T09:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-no",
                     *       "care_unit_id": "oslo-sentrum",
                     *       "confirmation": null,
                     *       "replaces_id": null,
                     *       "supersedes_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `appointment_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    change_appointment: {
        parameters: {
            query?: {
                /** @description Checks everything, changes nothing, sends nothing: 200 with what would be. */
                dry_run?: boolean;
            };
            header?: {
                /** @description The same key and request within 24 hours get the first answer again. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Appointment identifier.
                 * @example 7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55
                 */
                appointment_id: string;
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "start": "2027-03-19T10:00:00+01:00",
                 *       "end": "2027-03-19T10:30:00+01:00"
                 *     }
                 */
                "application/json": components["schemas"]["AppointmentUpdate"] | components["schemas"]["AppointmentCancellation"] | components["schemas"]["AppointmentConfirmation"];
            };
        };
        responses: {
            /** @description The appointment. */
            200: {
                headers: {
                    /** @description The first answer, again. */
                    "idempotency-replayed"?: string;
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "booked",
                     *       "start": "2027-03-19T10:00:00+01:00",
                     *       "end": "2027-03-19T10:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-no",
                     *       "care_unit_id": "oslo-sentrum",
                     *       "confirmation": null,
                     *       "replaces_id": null,
                     *       "supersedes_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["AppointmentPreview"] | components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `confirmation_code_incorrect`, `time_slot_unavailable`, `time_range_invalid`, `local_time_nonexistent`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `resource_not_found` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `appointment_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `appointment_cancelled`, `appointment_awaiting_confirmation`, `appointment_started`, `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout`, `outcome_unknown` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    resend_confirmation: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key and request within 24 hours get the first answer again. */
                "idempotency-key"?: string;
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Appointment identifier.
                 * @example 7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55
                 */
                appointment_id: string;
                /**
                 * @description Care unit of the EHR.
                 * @example sodermalm
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-se
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The appointment. */
            202: {
                headers: {
                    /** @description The first answer, again. */
                    "idempotency-replayed"?: string;
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "7d0c2a4e-6f52-4a5e-9d0b-3f2f8f7a1c55",
                     *       "status": "awaiting_confirmation",
                     *       "start": "2027-03-19T09:00:00+01:00",
                     *       "end": "2027-03-19T09:30:00+01:00",
                     *       "comment": null,
                     *       "patient_id": "emr_id:p-3",
                     *       "resource_id": "emr_id:r-1",
                     *       "healthcare_service_id": "consultation",
                     *       "emr": "sandbox-se",
                     *       "care_unit_id": "sodermalm",
                     *       "confirmation": {
                     *         "id": "3b9f3c1e-5f0b-4f57-8f6a-0e4d9c1f2a77",
                     *         "kind": "booking",
                     *         "channel": "sms",
                     *         "delivery": "queued",
                     *         "expires_at": "2027-03-12T14:10:00+01:00",
                     *         "attempts_remaining": 5,
                     *         "page_url": null
                     *       },
                     *       "replaces_id": null,
                     *       "supersedes_id": null
                     *     }
                     */
                    "application/json": components["schemas"]["Appointment"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `appointment_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_in_progress`, `confirmation_expired`, `confirmation_locked`, `confirmation_not_pending`, `resend_limit_reached`, `no_contact_channel` */
            409: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `content_too_large` */
            413: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `media_type_unsupported` */
            415: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `idempotency_key_reused` */
            422: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited`, `patient_limit_reached` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout`, `outcome_unknown` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_healthcare_services: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description Entries of a page, at most. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example riverside
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-uk
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Healthcare services, by id. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "healthcare_services": [
                     *         {
                     *           "id": "consultation",
                     *           "name": "Consultation",
                     *           "duration_minutes": 30
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        healthcare_services: components["schemas"]["HealthcareService"][];
                        /** @description For the next page. Null: this is the last one. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_patient: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
                /**
                 * @description Patient ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example emr_id:p-3
                 */
                patient_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The patient. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "p-3",
                     *       "identifiers": [
                     *         "emr_id:p-3"
                     *       ],
                     *       "given_name": "Rolig",
                     *       "family_name": "Strandsand",
                     *       "birth_date": "1974-01-30",
                     *       "gender": "male",
                     *       "phone": "+4700000003",
                     *       "email": "p-3@patients.example",
                     *       "address": {
                     *         "lines": [
                     *           "Prøveveien 3"
                     *         ],
                     *         "postal_code": "0001",
                     *         "city": "Oslo",
                     *         "country": "NO"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Patient"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `patient_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_resources: {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /** @description Entries of a page, at most. */
                limit?: number;
            };
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example sodermalm
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-se
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Resources, by id. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resources": [
                     *         {
                     *           "id": "r-1",
                     *           "identifiers": [
                     *             "emr_id:r-1",
                     *             "hsa_id:SE0000000000-1001"
                     *           ],
                     *           "kind": "practitioner",
                     *           "name": "Läkare Noggrann Provsson",
                     *           "healthcare_service_ids": [
                     *             "consultation",
                     *             "vaccination"
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description For the next page. Null: this is the last one. */
                        next_cursor: string | null;
                        resources: components["schemas"]["Resource"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `cursor_invalid` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    get_resource: {
        parameters: {
            query?: never;
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example sodermalm
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-se
                 */
                emr: string;
                /**
                 * @description Resource ID notation: `{type}:{value}`, a bare `emr_id`, or `header:{header_name}`.
                 * @example hsa_id:SE0000000000-1001
                 */
                resource_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "r-1",
                     *       "identifiers": [
                     *         "emr_id:r-1",
                     *         "hsa_id:SE0000000000-1001"
                     *       ],
                     *       "kind": "practitioner",
                     *       "name": "Läkare Noggrann Provsson",
                     *       "healthcare_service_ids": [
                     *         "consultation",
                     *         "vaccination"
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Resource"];
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found`, `resource_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    list_timeslots: {
        parameters: {
            query: {
                /** @description `next_cursor` of the page before, with the same filters. */
                cursor?: string;
                /**
                 * @description End of the range, at most 92 days after its start.
                 * @example 2027-03-19T16:00:00
                 */
                end: string;
                /**
                 * @description May repeat.
                 * @example [
                 *       "consultation"
                 *     ]
                 */
                healthcare_service_id?: string[];
                /** @description Entries of a page, at most. */
                limit?: number;
                resource_id?: string[];
                /**
                 * @description Start of the range. Without an offset: local time.
                 * @example 2027-03-19T08:00:00
                 */
                start: string;
            };
            header?: {
                /** @description A UUID, a ULID or 32 hexadecimal digits, which come back with the answer. Absent or anything else: a new one. */
                "x-request-id"?: string;
                /** @description The standard that response bodies follow. */
                "x-service-standard"?: "native";
            };
            path: {
                /**
                 * @description Care unit of the EHR.
                 * @example oslo-sentrum
                 */
                care_unit_id: string;
                /**
                 * @description Target EHR.
                 * @example sandbox-no
                 */
                emr: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Free slots, by start, resource, service. */
            200: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "timeslots": [
                     *         {
                     *           "start": "2027-03-19T08:00:00+01:00",
                     *           "end": "2027-03-19T08:30:00+01:00",
                     *           "resource_id": "emr_id:r-1",
                     *           "healthcare_service_id": "consultation"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        /** @description For the next page. Null: this is the last one. */
                        next_cursor: string | null;
                        timeslots: components["schemas"]["Timeslot"][];
                    };
                };
            };
            /** @description `request_invalid`, `standard_unsupported`, `time_range_invalid`, `local_time_nonexistent`, `cursor_invalid`, `identifier_malformed`, `identifier_type_unsupported`, `header_reference_missing`, `header_reference_forbidden`, `resource_not_found`, `healthcare_service_not_found` */
            400: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `credentials_invalid` */
            401: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `scope_missing` */
            403: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `emr_not_found`, `care_unit_not_found` */
            404: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `uri_too_long` */
            414: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `rate_limited` */
            429: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `headers_too_large` */
            431: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `internal_error` */
            500: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `operation_unsupported` */
            501: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_rejected` */
            502: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `overloaded`, `database_unavailable`, `ehr_unavailable` */
            503: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description `ehr_timeout` */
            504: {
                headers: {
                    /** @description The caller's, or a new one. */
                    "x-request-id"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
