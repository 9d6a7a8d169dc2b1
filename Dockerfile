# planbridge as one static binary in an empty image.
#   docker build --build-arg VERSION=1.2.3 -t planbridge .
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /planbridge ./cmd/planbridge \
 && .ci/notices /planbridge >/THIRD_PARTY_NOTICES \
 && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /planbridge /THIRD_PARTY_NOTICES /
# For a store on file:/data/planbridge.db; it must belong to the user below.
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
WORKDIR /data
EXPOSE 8080 9090
# What serve, the probe and all other commands read.
ENV PLANBRIDGE_CONFIG=/etc/planbridge/planbridge.yaml
# The probe reads the configuration to find the admin listener, so it works on loopback and with a token too.
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s --retries=3 \
  CMD ["/planbridge", "health"]
ENTRYPOINT ["/planbridge"]
CMD ["serve"]
