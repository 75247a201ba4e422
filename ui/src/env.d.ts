/// <reference types="vite/client" />

/** True if the page is built or served for development of the page: it shows data/mock.ts. */
declare const __INVENTED__: boolean;
