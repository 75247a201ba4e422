/// <reference types="vite/client" />

/** True where the page is built or served for work on the page itself: it shows data/mock.ts. */
declare const __INVENTED__: boolean;
